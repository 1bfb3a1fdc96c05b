/**
 * The canvas with the filtered picture, and the unfiltered one on the left of a line.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").FilteredFrame} FilteredFrame
 * @typedef {import("./capture.js").Frame} Frame
 */

/** The number of frames whose unfiltered picture is kept: more than can be in flight. */
const MAX_SENT = 80;

/**
 * @typedef {object} Shown A frame on the screen.
 * @property {number} sequence
 * @property {number} capturedMs
 * @property {number} shownMs
 * @property {FilteredFrame} outcome
 */

/** The view of the filtered frames. */
export class View {
  /** The position of the line between unfiltered and filtered, 0-1; `null`: no line. */
  /** @type {number|null} */
  split = null;
  #context;
  /** @type {Map<number, Frame>} The frames that were sent, by sequence. */
  #sent = new Map();
  #lastSequence = 0;
  /** @type {ImageBitmap|null} */
  #filtered = null;
  /** @type {ImageBitmap|null} */
  #original = null;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {(shown: Shown) => void} onShown
   */
  constructor(canvas, onShown) {
    this.canvas = canvas;
    this.onShown = onShown;
    this.#context =
      /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
  }

  /**
   * Keeps a frame that was sent.
   *
   * @param {Frame} frame
   */
  keep(frame) {
    this.#sent.set(frame.sequence, frame);
    if (this.#sent.size > MAX_SENT) this.#sent.delete(this.#sent.keys().next().value ?? 0);
  }

  /**
   * Forgets frames that were dropped.
   *
   * @param {number} first
   * @param {number} last
   */
  forget(first, last) {
    for (const sequence of this.#sent.keys()) {
      if (sequence >= first && sequence <= last) this.#sent.delete(sequence);
    }
  }

  /**
   * Shows the outcome of a frame, unless a newer one is shown.
   *
   * @param {FilteredFrame} outcome
   * @param {Blob|VideoFrame} picture
   */
  async show(outcome, picture) {
    const sequence = Number(outcome.sequence);
    const jpeg = this.split === null ? null : this.#sent.get(sequence)?.jpeg;
    this.#sent.delete(sequence);
    const [filtered, original] = await Promise.all([
      createImageBitmap(picture), jpeg ? createImageBitmap(jpeg) : null,
    ]);
    if (sequence <= this.#lastSequence) {
      filtered.close();
      original?.close();
      return;
    }
    this.#lastSequence = sequence;
    this.#filtered?.close();
    this.#original?.close();
    this.#filtered = filtered;
    this.#original = original;
    this.draw();
    const capturedMs = Number(outcome.captureTimeNs) / 1e6;
    this.onShown({ sequence, capturedMs, shownMs: performance.now(), outcome });
  }

  /** Draws the last frame again, for instance because the line has moved. */
  draw() {
    const filtered = this.#filtered;
    if (!filtered) return;
    const { canvas } = this;
    if (canvas.width !== filtered.width || canvas.height !== filtered.height) {
      canvas.width = filtered.width;
      canvas.height = filtered.height;
    }
    this.#context.drawImage(filtered, 0, 0);
    if (this.split === null || !this.#original) return;
    const { width, height } = this.#original;
    const part = Math.round(this.split * width);
    if (part > 0) {
      this.#context.drawImage(this.#original, 0, 0, part, height,
        0, 0, part * canvas.width / width, canvas.height);
    }
  }
}
