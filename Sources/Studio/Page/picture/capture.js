/**
 * Pictures of a source as JPEG frames for the server. The newest picture wins: while a frame is
 * encoded, or the server accepts none, at most the newest picture waits.
 *
 * @typedef {import("../sources/source.js").Picture} Picture
 */

/** The quality of JPEG, 0-1. */
const QUALITY = 0.82;

/**
 * @typedef {object} Frame
 * @property {number} sequence
 * @property {Blob} jpeg
 * @property {Uint8Array} bytes The content of `jpeg`.
 * @property {number} capturedMs
 */

/** The way of pictures from a source to frames. */
export class Capture {
  /** Whether left and right are exchanged. */
  isMirrored = false;
  #canvas = new OffscreenCanvas(640, 360);
  /** @type {Picture|null} The newest picture that was not encoded. */
  #newest = null;
  #isEncoding = false;
  #sequence = 0;
  #size = { width: 640, height: 360 };

  /**
   * @param {() => boolean} hasCredit Whether the server accepts a frame.
   * @param {(frame: Frame) => void} onFrame
   * @param {() => void} onSkipped Called for each picture that a newer one replaces.
   */
  constructor(hasCredit, onFrame, onSkipped) {
    this.hasCredit = hasCredit;
    this.onFrame = onFrame;
    this.onSkipped = onSkipped;
  }

  /** The size of frames, in pixels. */
  get size() {
    return this.#size;
  }

  set size(size) {
    this.#size = size;
    this.#canvas = new OffscreenCanvas(size.width, size.height);
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
    const height = Math.round(width * this.#size.height / this.#size.width);
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext("2d")?.drawImage(this.#canvas, 0, 0, width, height);
    return bytesOf(await canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY }));
  }

  /** Returns the newest frame as JPEG. */
  async still() {
    return bytesOf(await this.#canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY }));
  }

  /** @param {Picture} picture */
  async #encode(picture) {
    this.#isEncoding = true;
    try {
      this.#draw(picture);
      const jpeg = await this.#canvas.convertToBlob({ type: "image/jpeg", quality: QUALITY });
      const bytes = await bytesOf(jpeg);
      if (!this.hasCredit()) return;
      this.#sequence += 1;
      this.onFrame({ sequence: this.#sequence, jpeg, bytes, capturedMs: picture.capturedMs });
    } finally {
      this.#isEncoding = false;
    }
    this.proceed();
  }

  /**
   * Draws the middle of a picture with the aspect ratio of frames.
   *
   * @param {Picture} picture
   */
  #draw({ image, width, height }) {
    const context =
      /** @type {OffscreenCanvasRenderingContext2D} */ (this.#canvas.getContext("2d"));
    const { width: across, height: down } = this.#size;
    const scale = Math.min(width / across, height / down);
    const seen = { width: across * scale, height: down * scale };
    context.setTransform(this.isMirrored ? -1 : 1, 0, 0, 1, this.isMirrored ? across : 0, 0);
    context.drawImage(
      image, (width - seen.width) / 2, (height - seen.height) / 2, seen.width, seen.height,
      0, 0, across, down);
  }
}

/** @param {Blob} blob */
async function bytesOf(blob) {
  return new Uint8Array(await blob.arrayBuffer());
}
