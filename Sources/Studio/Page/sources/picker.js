/**
 * The choice of the source of frames.
 *
 * @typedef {import("./source.js").Picture} Picture
 * @typedef {import("./source.js").Source} Source
 */

import { byId } from "../shared/dom.js";
import { StillSource } from "./still.js";
import { CameraSource, VideoFileSource } from "./video.js";

/**
 * @typedef {object} PickerContext
 * @property {(picture: Picture) => void} onPicture
 * @property {(source: Source) => void} onSource Called when a source has started.
 * @property {(message: string) => void} onProblem Called with an empty text when one starts.
 */

/** Starts the source that the user chooses, and stops the one before. */
export class SourcePicker {
  /** @type {Source|null} */
  current = null;
  #choice = byId("source");
  #file = byId("source-file");
  #context;

  /** @param {PickerContext} context */
  constructor(context) {
    this.#context = context;
    this.#choice.onchange = () => this.#choose(this.#choice.value);
    byId("use-camera").onclick = () => this.start(new CameraSource());
    this.#file.onchange = () => {
      const [file] = this.#file.files;
      this.#file.value = "";
      if (file) this.open(file);
    };
    // The file dialog was closed without a file.
    this.#file.oncancel = () => this.#showCurrent();
  }

  /**
   * Opens a video or a picture.
   *
   * @param {File} file
   */
  open(file) {
    return this.start(
      file.type.startsWith("video/") ? new VideoFileSource(file) : StillSource.file(file));
  }

  /**
   * Starts a source. After an error the one before goes on.
   *
   * @param {Source} source
   */
  async start(source) {
    this.#context.onProblem("");
    try {
      await source.start((picture) => {
        if (this.current === source || !this.current) this.#context.onPicture(picture);
      });
    } catch (error) {
      source.stop();
      this.#context.onProblem(/** @type {Error} */ (error).message);
      // A portrait that cannot be loaded is not tried again.
      if (!this.current && source.kind !== "portrait") await this.start(StillSource.portrait());
      return this.#showCurrent();
    }
    this.current?.stop();
    this.current = source;
    this.#showCurrent();
    this.#context.onSource(source);
  }

  /** @param {string} kind */
  #choose(kind) {
    if (kind === "camera") this.start(new CameraSource());
    else if (kind === "portrait") this.start(StillSource.portrait());
    else {
      this.#file.accept = kind === "file" ? "video/*" : "image/*";
      this.#file.click();
    }
  }

  #showCurrent() {
    this.#choice.value = this.current?.kind ?? "portrait";
    byId("use-camera").hidden = this.current?.kind === "camera";
  }
}
