/**
 * The tiles of the participants.
 *
 * @typedef {import("./types.js").Participant} Participant
 */

import { byId, element, save } from "../shared/dom.js";

/** The tiles. The own tile is the first. */
export class Tiles {
  #list = byId("tiles");
  #grid = /** @type {HTMLElement} */ (this.#list.firstElementChild);
  /** @type {Map<string, HTMLElement>} */
  #tiles = new Map();

  /**
   * @param {string} self The participant's own name.
   * @param {(picture: File) => void} onDrop Called for a picture that is dropped on the own tile.
   */
  constructor(self, onDrop) {
    this.self = self;
    const tile = this.#tile(self);
    tile.dataset.self = "";
    tile.addEventListener("dragover", (event) => {
      event.preventDefault();
      tile.dataset.drop = "";
    });
    tile.addEventListener("dragleave", () => delete tile.dataset.drop);
    tile.addEventListener("drop", (event) => {
      event.preventDefault();
      delete tile.dataset.drop;
      const picture = event.dataTransfer?.files[0];
      if (picture) onDrop(picture);
    });
  }

  /** The own tile. */
  get own() {
    return this.#tile(this.self);
  }

  /** The size of the frames of the own video. */
  get frameSize() {
    const { videoWidth, videoHeight } = video(this.own);
    return { width: videoWidth || 640, height: videoHeight || 360 };
  }

  /**
   * Shows a video in a participant's tile.
   *
   * @param {string} name
   * @param {MediaStream} stream
   */
  play(name, stream) {
    const shown = video(this.#tile(name));
    if (shown.srcObject !== stream) shown.srcObject = stream;
  }

  /**
   * Adds and removes tiles, and shows which videos are paused.
   *
   * @param {Participant[]} participants
   */
  update(participants) {
    const names = participants.map(({ name }) => name);
    for (const [name, tile] of this.#tiles) {
      if (names.includes(name)) continue;
      video(tile).srcObject = null;
      tile.remove();
      this.#tiles.delete(name);
    }
    for (const { name, paused } of participants) {
      const tile = this.#tile(name);
      const isShown = video(tile).readyState >= HTMLMediaElement.HAVE_CURRENT_DATA;
      tile.dataset.video = paused ? "paused" : isShown ? "playing" : "waiting";
    }
    this.#list.dataset.count = this.#tiles.size;
  }

  /** Removes all tiles. */
  clear() {
    this.#grid.replaceChildren();
  }

  /** @param {string} name @returns {HTMLElement} */
  #tile(name) {
    const known = this.#tiles.get(name);
    if (known) return known;
    const isSelf = name === this.self;
    const label = isSelf ? `${name} (you)` : name;
    const made = element("article", { class: "tile", "data-participant": name,
      "data-video": "waiting", "aria-label": label },
      element("video", { autoplay: true, playsinline: true, "aria-label": `Video of ${name}`,
        playing: () => {
          if (made.dataset.video === "waiting") made.dataset.video = "playing";
        } }),
      element("div", { class: "avatar", "aria-hidden": "true" }, initials(name)),
      element("div", { class: "caption" },
        element("span", { class: "person" }, label),
        element("span", { class: "paused" }, "Video paused"),
        element("button", { class: "icon-button", "data-action": "snapshot", title: "Save this picture",
          "aria-label": `Save a picture of ${name}`, click: () => saveFrame(made, name) }, "⤓")));
    video(made).muted = true;
    this.#tiles.set(name, made);
    this.#grid.append(made);
    return made;
  }
}

/** @param {HTMLElement} tile @returns {HTMLVideoElement} */
function video(tile) {
  return /** @type {HTMLVideoElement} */ (tile.querySelector("video"));
}

/** @param {HTMLElement} tile @param {string} name */
function saveFrame(tile, name) {
  const shown = video(tile);
  const canvas = element("canvas", { width: shown.videoWidth, height: shown.videoHeight });
  canvas.getContext("2d").drawImage(shown, 0, 0);
  canvas.toBlob((/** @type {Blob|null} */ picture) => picture && save(picture, `${name}.png`));
}

/** @param {string} name */
function initials(name) {
  return name.split(/\s+/).slice(0, 2).map((word) => word.charAt(0).toUpperCase()).join("");
}
