/**
 * Pictures of a source as JPEG frames for the server. The newest picture wins: while a frame is
 * encoded, or the server does not accept frames, at most the newest picture waits.
 *
 * @typedef {import("../sources/source.js").Picture} Picture
 */

/** The quality of JPEG, 0-1. */
const QUALITY = 0.82;
const ENCODER = new URL("encoder.js", import.meta.url);

/**
 * @typedef {object} Frame
 * @property {number} sequence
 * @property {Blob} jpeg
 * @property {Uint8Array} bytes The content of `jpeg`.
 * @property {number} capturedMs
 *
 * @typedef {object} EncoderRequest A picture for the worker, which answers with `id` and `buffer`.
 * @property {number} id
 * @property {ImageBitmap} bitmap
 * @property {number} width The size of the frame, in pixels.
 * @property {number} height
 * @property {boolean} isMirrored
 * @property {number} quality 0-1.
 */

/** The way of pictures from a source to frames. */
export class Capture {
  /** Whether left and right are exchanged. */
  isMirrored = false;
  /** The size of frames, in pixels. */
  size = { width: 640, height: 360 };
  #worker = new Worker(ENCODER);
  #lastId = 0;
  /** @type {Map<number, (bytes: Uint8Array) => void>} The pictures at the worker. */
  #waiting = new Map();
  /** @type {Picture|null} The newest picture that was not encoded. */
  #newest = null;
  #isEncoding = false;
  #sequence = 0;
  /** @type {(jpeg: Blob) => void} */
  #setFirst = () => {};
  /** @type {Promise<Blob>} The newest frame, once there is one. */
  #last = new Promise((resolve) => { this.#setFirst = resolve; });

  /**
   * @param {() => boolean} hasCredit Whether the server accepts a frame.
   * @param {(frame: Frame) => void} onFrame
   * @param {() => void} onSkipped Called for each picture that a newer one replaces.
   * @param {(problem: string) => void} onProblem
   */
  constructor(hasCredit, onFrame, onSkipped, onProblem) {
    this.hasCredit = hasCredit;
    this.onFrame = onFrame;
    this.onSkipped = onSkipped;
    this.#worker.onmessage = ({ data: { id, buffer } }) => {
      this.#waiting.get(id)?.(new Uint8Array(buffer));
      this.#waiting.delete(id);
    };
    this.#worker.onerror = () => onProblem("A part of the page did not arrive. Reload the page.");
  }

  /**
   * Takes a picture of the source.
   *
   * @param {Picture} picture
   */
  offer(picture) {
    if (this.#newest) this.onSkipped();
    this.#newest = picture;
    this.proceed();
  }

  /** Encodes the newest picture, if the server accepts it now. */
  proceed() {
    if (this.#newest && !this.#isEncoding && this.hasCredit()) {
      const picture = this.#newest;
      this.#newest = null;
      this.#encode(picture);
    }
  }

  /**
   * Returns the newest frame as a small JPEG, for thumbnails.
   *
   * @param {number} width
   */
  async thumbnail(width) {
    const height = Math.round(width * this.size.height / this.size.width);
    return this.#jpeg(await createImageBitmap(await this.#last), { width, height }, false);
  }

  /** Returns the newest frame as JPEG. */
  async still() {
    return new Uint8Array(await (await this.#last).arrayBuffer());
  }

  /** @param {Picture} picture */
  async #encode({ image, capturedMs }) {
    this.#isEncoding = true;
    try {
      // A source that has stopped meanwhile has no picture.
      const bitmap = await createImageBitmap(image).catch(() => null);
      if (!bitmap) return;
      const bytes = await this.#jpeg(bitmap, this.size, this.isMirrored);
      const jpeg = new Blob([bytes], { type: "image/jpeg" });
      this.#setFirst(jpeg);
      this.#last = Promise.resolve(jpeg);
      if (!this.hasCredit()) return;
      this.#sequence += 1;
      this.onFrame({ sequence: this.#sequence, jpeg, bytes, capturedMs });
    } finally {
      this.#isEncoding = false;
    }
    this.proceed();
  }

  /**
   * Returns the middle of a picture as JPEG.
   *
   * @param {ImageBitmap} bitmap Closed by this call.
   * @param {{width: number, height: number}} size
   * @param {boolean} isMirrored
   * @returns {Promise<Uint8Array>}
   */
  #jpeg(bitmap, { width, height }, isMirrored) {
    const id = (this.#lastId += 1);
    /** @type {EncoderRequest} */
    const request = { id, bitmap, width, height, isMirrored, quality: QUALITY };
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker.postMessage(request, [bitmap]);
    });
  }
}
