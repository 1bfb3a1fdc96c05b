/**
 * Pictures of a source as frames for the server: encoded video, or JPEG. The newest picture wins:
 * while a frame is encoded, or the server does not accept frames, at most the newest picture waits.
 *
 * @typedef {import("../sidelight/index.js").Codec} Codec
 * @typedef {import("../sidelight/index.js").EncodedFrame} EncodedFrame
 * @typedef {import("../sidelight/index.js").FrameToSend} FrameToSend
 * @typedef {import("../sources/source.js").Picture} Picture
 */

/** The quality of JPEG, 0-1. */
const QUALITY = 0.82;
const ENCODER = new URL("encoder.js", import.meta.url);

/**
 * @typedef {object} Frame
 * @property {number} sequence
 * @property {Blob|null} jpeg The unfiltered picture; `null` if it was not needed.
 * @property {FrameToSend} message
 *
 * @typedef {object} CaptureContext
 * @property {() => boolean} hasCredit Whether the server accepts a frame.
 * @property {() => boolean} needsOriginal Whether frames need their unfiltered pictures.
 * @property {(frame: Frame) => void} onFrame
 * @property {() => void} onSkipped Called for each picture that a newer one replaces.
 * @property {(problem: string) => void} onProblem
 * @property {(reason: string) => void} onEncoderError Called when video cannot be encoded.
 *
 * @typedef {object} EncoderRequest A picture for the worker. The worker answers with `id` when it
 *   takes the next one, and with `buffer`, the JPEG file, if the picture is not video. A frame of
 *   video follows as `frame`, with `buffer`.
 * @property {number} id
 * @property {ImageBitmap} bitmap
 * @property {number} width The size of the frame, in pixels.
 * @property {number} height
 * @property {boolean} isMirrored
 * @property {number} quality The quality of JPEG, 0-1; 0: no JPEG.
 * @property {{codec: Codec, capturedMs: number, isKeyFrame: boolean}|null} video
 */

/** The way of pictures from a source to frames. */
export class Capture {
  /** Whether left and right are exchanged. */
  isMirrored = false;
  /** The size of frames, in pixels. */
  size = { width: 640, height: 360 };
  #context;
  #worker = new Worker(ENCODER, { type: "module" });
  #lastId = 0;
  /** @type {Map<number, (buffer: ArrayBuffer|null) => void>} The pictures at the worker. */
  #waiting = new Map();
  /** @type {Picture|null} The newest picture that was not encoded. */
  #newest = null;
  #isEncoding = false;
  #sequence = 0;
  /** @type {Codec|null} */
  #codec = null;
  #needsKeyFrame = false;
  /** @type {Promise<Blob>|null} The next unfiltered picture, if one is requested. */
  #next = null;
  /** @type {(jpeg: Blob) => void} */
  #setNext = () => {};

  /** @param {CaptureContext} context */
  constructor(context) {
    this.#context = context;
    this.#worker.onmessage = ({ data }) => {
      if (data.frame) return this.#takeVideo(data.frame, data.buffer);
      if (data.error) return context.onEncoderError(data.error);
      this.#waiting.get(data.id)?.(data.buffer);
      this.#waiting.delete(data.id);
    };
    this.#worker.onerror = () =>
      context.onProblem("A part of the page did not arrive. Reload the page.");
  }

  /** The codec of frames; `null`: JPEG. */
  get codec() {
    return this.#codec;
  }

  set codec(codec) {
    this.#codec = codec;
    this.requestKeyFrame();
  }

  /** Makes the next frame of video a key frame. */
  requestKeyFrame() {
    this.#needsKeyFrame = true;
  }

  /**
   * Takes a picture of the source.
   *
   * @param {Picture} picture
   */
  offer(picture) {
    if (this.#newest) this.#context.onSkipped();
    this.#newest = picture;
    this.proceed();
  }

  /** Encodes the newest picture, if the server accepts it now. */
  proceed() {
    if (this.#newest && !this.#isEncoding && this.#context.hasCredit()) {
      const picture = this.#newest;
      this.#newest = null;
      this.#encode(picture);
    }
  }

  /**
   * Returns the next frame as a small JPEG, for thumbnails.
   *
   * @param {number} width
   */
  async thumbnail(width) {
    const height = Math.round(width * this.size.height / this.size.width);
    const bitmap = await createImageBitmap(await this.#nextPicture());
    const buffer = await this.#request(bitmap, { width, height }, { quality: QUALITY });
    return new Uint8Array(/** @type {ArrayBuffer} */ (buffer));
  }

  /** Returns the next frame as JPEG. */
  async still() {
    return new Uint8Array(await (await this.#nextPicture()).arrayBuffer());
  }

  #nextPicture() {
    this.#next ??= new Promise((resolve) => { this.#setNext = resolve; });
    return this.#next;
  }

  /** @param {Picture} picture */
  async #encode({ image, capturedMs }) {
    this.#isEncoding = true;
    try {
      // A source that has stopped meanwhile has no picture.
      const bitmap = await createImageBitmap(image).catch(() => null);
      if (!bitmap) return;
      const { size, isMirrored, codec } = this;
      const video = codec && { codec, capturedMs, isKeyFrame: this.#needsKeyFrame };
      const needsJpeg = !codec || this.#next || this.#context.needsOriginal();
      if (codec) this.#needsKeyFrame = false;
      const buffer = await this.#request(
        bitmap, size, { isMirrored, quality: needsJpeg ? QUALITY : 0, video });
      if (buffer) {
        const jpeg = this.#keep(buffer);
        if (!this.#context.hasCredit()) return;
        this.#send(jpeg, { jpeg: new Uint8Array(buffer), capturedMs });
      }
    } finally {
      this.#isEncoding = false;
    }
    this.proceed();
  }

  /** @param {EncodedFrame} frame @param {ArrayBuffer|null} buffer */
  #takeVideo(frame, buffer) {
    const jpeg = buffer && this.#keep(buffer);
    if (frame.codec === this.#codec) return this.#send(jpeg, frame);
    // A gap, which keeps the frames that depend on this one from being decoded.
    this.#sequence += 1;
  }

  /** @param {Blob|null} jpeg @param {FrameToSend} frame */
  #send(jpeg, frame) {
    this.#sequence += 1;
    const sequence = this.#sequence;
    this.#context.onFrame({ sequence, jpeg, message: { ...frame, sequence } });
  }

  /** @param {ArrayBuffer} buffer A JPEG file. */
  #keep(buffer) {
    const jpeg = new Blob([buffer], { type: "image/jpeg" });
    this.#next = null;
    this.#setNext(jpeg);
    return jpeg;
  }

  /**
   * Passes the middle of a picture to the worker, and returns its JPEG file, if any.
   *
   * @param {ImageBitmap} bitmap Closed by this call.
   * @param {{width: number, height: number}} size
   * @param {Partial<EncoderRequest>} options
   * @returns {Promise<ArrayBuffer|null>}
   */
  #request(bitmap, { width, height }, options) {
    const id = (this.#lastId += 1);
    /** @type {EncoderRequest} */
    const request =
      { id, bitmap, width, height, isMirrored: false, quality: 0, video: null, ...options };
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker.postMessage(request, [bitmap]);
    });
  }
}
