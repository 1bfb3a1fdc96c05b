/**
 * Frames of a video element: a camera or a file.
 *
 * @typedef {import("./source.js").Picture} Picture
 * @typedef {import("./source.js").Source} Source
 */

import { element } from "../shared/dom.js";

/** @implements {Source} */
class VideoSource {
  #video = element("video", { muted: true, playsinline: true });
  #callback = 0;
  #isStopped = false;

  /** @param {string} kind @param {string} label */
  constructor(kind, label) {
    this.kind = kind;
    this.label = label;
    this.#video.muted = true;
  }

  /** @returns {HTMLVideoElement} */
  get video() {
    return this.#video;
  }

  /** @param {(picture: Picture) => void} onPicture */
  async start(onPicture) {
    const { video } = this;
    await video.play();
    /** @param {number} now @param {VideoFrameCallbackMetadata} metadata */
    const deliver = (now, metadata) => {
      if (this.#isStopped) return;
      this.#callback = video.requestVideoFrameCallback(deliver);
      onPicture({
        image: video, width: video.videoWidth, height: video.videoHeight,
        capturedMs: metadata.captureTime ?? now,
      });
    };
    this.#callback = video.requestVideoFrameCallback(deliver);
  }

  stop() {
    this.#isStopped = true;
    this.video.cancelVideoFrameCallback(this.#callback);
    this.video.pause();
    this.video.removeAttribute("src");
    this.video.srcObject = null;
  }
}

/** The camera, at the permission of the user. */
export class CameraSource extends VideoSource {
  #deviceId;
  /** @type {MediaStream|null} */
  #stream = null;

  /** @param {string} [deviceId] Default: the user's choice. */
  constructor(deviceId) {
    super("camera", "Camera");
    this.#deviceId = deviceId;
  }

  /** @param {(picture: Picture) => void} onPicture */
  async start(onPicture) {
    if (!navigator.mediaDevices) {
      throw new Error("This page has no access to cameras: open it at 127.0.0.1 or with HTTPS.");
    }
    try {
      this.#stream = await navigator.mediaDevices.getUserMedia({
        audio: false,
        video: {
          deviceId: this.#deviceId ? { exact: this.#deviceId } : undefined,
          width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 },
        },
      });
    } catch (error) {
      throw new Error(reasonOf(/** @type {DOMException} */ (error)));
    }
    this.video.srcObject = this.#stream;
    await super.start(onPicture);
  }

  stop() {
    super.stop();
    for (const track of this.#stream?.getTracks() ?? []) track.stop();
  }
}

/** A video file of the user, which repeats. */
export class VideoFileSource extends VideoSource {
  #url;

  /** @param {File} file */
  constructor(file) {
    super("file", file.name);
    this.#url = URL.createObjectURL(file);
    this.video.src = this.#url;
    this.video.loop = true;
  }

  /** @param {(picture: Picture) => void} onPicture */
  async start(onPicture) {
    try {
      await super.start(onPicture);
    } catch {
      throw new Error(`The browser cannot play ${this.label}.`);
    }
  }

  stop() {
    super.stop();
    URL.revokeObjectURL(this.#url);
  }
}

/** @param {DOMException} error */
function reasonOf({ name, message }) {
  switch (name) {
    case "NotAllowedError": return "The browser does not allow this page to use the camera.";
    case "NotFoundError": return "There is no camera. The portrait moves instead.";
    case "NotReadableError": return "Another program uses the camera.";
    default: return `The camera is not available: ${message}`;
  }
}
