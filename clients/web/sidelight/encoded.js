/**
 * Frames of encoded video, for `VideoEncoder` and `VideoDecoder` of WebCodecs.
 *
 * @typedef {import("./Generated/message-types.js").ColorDescription} ColorDescription
 * @typedef {import("./Generated/message-types.js").FilteredFrame} FilteredFrame
 * @typedef {import("./Generated/message-types.js").Image} Image
 * @typedef {import("./Generated/message-types.js").VideoCodec} VideoCodec
 */

/**
 * @typedef {"H264"|"VP8"|"VP9"|"AV1"} Codec A codec. The server answers AV1 with VP8.
 *
 * @typedef {object} Chunk A frame of encoded video: an `EncodedVideoChunk`, or its parts.
 * @property {"key"|"delta"} type Whether it is a key frame, or depends on the frames before it.
 * @property {number} timestamp The capture time in microseconds, on the clock of
 *   `performance.now()`.
 * @property {Uint8Array} [data] The access unit; H.264 as in Annex B, with parameter sets in key
 *   frames. An `EncodedVideoChunk` has `copyTo` instead.
 * @property {number} [byteLength]
 * @property {(destination: Uint8Array) => void} [copyTo]
 *
 * @typedef {Pick<ColorDescription, "range"|"matrix">} Colors The colours of a frame.
 *
 * @typedef {object} EncodedFrame A frame for {@link Session.send}.
 * @property {Chunk & {data: Uint8Array}} chunk
 * @property {Codec} codec
 * @property {Colors} color
 */

/**
 * The codecs in the notation of WebCodecs, with levels for 1080p30. The profile of H.264 is
 * Constrained Baseline.
 *
 * @type {Record<Codec, string>}
 */
export const CODECS = {
  VP8: "vp8", H264: "avc1.42E028", VP9: "vp09.00.40.08", AV1: "av01.0.08M.08",
};

/** The number of pictures or chunks in a queue at which further ones are skipped. */
const MAX_QUEUED = 8;

/** @param {unknown} format @returns {format is Codec} */
export function isCodec(format) {
  return typeof format === "string" && Object.hasOwn(CODECS, format);
}

/**
 * @param {Codec} codec
 * @param {{width: number, height: number, bitrate?: number, framerate?: number}} settings
 */
function encoderConfig(codec, settings) {
  return {
    codec: CODECS[codec], latencyMode: "realtime", ...settings,
    ...(codec === "H264" ? { avc: { format: "annexb" } } : {}),
  };
}

/**
 * Returns the codecs in which a server and this browser can both send and receive, of VP8, H.264
 * and VP9, in this order. Empty without WebCodecs, which browsers offer to secure pages only.
 *
 * @param {VideoCodec[]} codecs Those of {@link Server.info}.
 * @param {{width: number, height: number}} size The size of frames, in pixels.
 * @returns {Promise<Codec[]>}
 */
export async function usableCodecs(codecs, size) {
  const { VideoEncoder, VideoDecoder } = /** @type {any} */ (globalThis);
  if (!VideoEncoder || !VideoDecoder) return [];
  /** @param {Codec} codec */
  const isUsable = async (codec) => {
    if (!codecs.some(({ format, decodes, encodes }) => format === codec && decodes && encodes)) {
      return false;
    }
    try {
      const [encoder, decoder] = await Promise.all([
        VideoEncoder.isConfigSupported(encoderConfig(codec, size)),
        VideoDecoder.isConfigSupported({ codec: CODECS[codec] }),
      ]);
      return encoder.supported && decoder.supported;
    } catch {
      return false;
    }
  };
  /** @type {Codec[]} */
  const wanted = ["VP8", "H264", "VP9"];
  const found = await Promise.all(wanted.map(isUsable));
  return wanted.filter((_, index) => found[index]);
}

/**
 * Returns the image of a chunk, for a frame to send.
 *
 * @param {Chunk} chunk
 * @param {Codec|undefined} codec
 * @param {Colors|undefined} color
 * @returns {Partial<Image>}
 * @throws {TypeError} If the codec is missing or unknown, or the chunk is not complete.
 */
export function imageOf(chunk, codec, color) {
  if (!isCodec(codec)) {
    const known = Object.keys(CODECS).join(", ");
    throw new TypeError(`frame.codec is ${codec}; it must be one of ${known}`);
  }
  const { type, data = copyOf(chunk) } = chunk;
  if (type !== "key" && type !== "delta") {
    throw new TypeError(`frame.chunk.type is ${type}; it must be "key" or "delta"`);
  }
  if (!data.length) throw new TypeError("frame.chunk has no data");
  return {
    format: codec, inline: data, color: color && { alpha: "UNSPECIFIED", ...color },
    encoded: { keyFrame: type === "key", temporalLayer: 0, dependsOn: [] },
  };
}

/** @param {Chunk} chunk */
function copyOf(chunk) {
  const data = new Uint8Array(chunk.byteLength ?? 0);
  chunk.copyTo?.(data);
  return data;
}

/**
 * Returns the chunk of a result, such as for `new EncodedVideoChunk(...)`; `null` if the result is
 * not encoded video.
 *
 * @param {FilteredFrame} frame
 * @returns {Chunk & {data: Uint8Array}|null}
 */
export function chunkOf({ image, captureTimeNs }) {
  if (!isCodec(image?.format) || !image?.inline?.length) return null;
  return {
    type: image.encoded?.keyFrame ? "key" : "delta", data: image.inline,
    timestamp: Math.round(Number(captureTimeNs) / 1000),
  };
}

/**
 * Encodes frames with WebCodecs, for live video. A browser chooses the colours in which it encodes:
 * {@link EncodedFrame.color} states them.
 */
export class FrameEncoder {
  /** @type {any} A `VideoEncoder`; `null` before {@link configure} and after an error. */
  #encoder = null;
  /** @type {Codec} */
  #codec = "VP8";
  /** The codec and size of the encoder. */
  #shape = "";
  /** @type {Colors} */
  #color = { range: "VIDEO", matrix: "BT601" };
  /** @type {Set<{resolve: (value?: undefined) => void, reject: (error: Error) => void}>} */
  #waiting = new Set();
  #needsKeyFrame = true;
  #onFrame;
  #onError;

  /**
   * @param {(frame: EncodedFrame) => void} onFrame
   * @param {(error: Error) => void} onError Called when the encoder fails. It encodes again after
   *   {@link configure}.
   */
  constructor(onFrame, onError) {
    this.#onFrame = onFrame;
    this.#onError = onError;
  }

  /**
   * Begins or changes the encoding. The next frame is a key frame, unless only rates change.
   *
   * @param {Codec} codec
   * @param {{width: number, height: number, bitrate?: number, framerate?: number}} settings The
   *   size in pixels; bits per second; frames per second.
   */
  configure(codec, settings) {
    const shape = `${codec} ${settings.width} ${settings.height}`;
    if (this.#encoder && shape === this.#shape) {
      this.#encoder.configure(encoderConfig(codec, settings));
      return;
    }
    this.close();
    this.#codec = codec;
    this.#shape = shape;
    this.#needsKeyFrame = true;
    const { VideoEncoder } = /** @type {any} */ (globalThis);
    const encoder = new VideoEncoder({
      output: (/** @type {any} */ chunk, /** @type {any} */ metadata) =>
        this.#take(chunk, metadata?.decoderConfig),
      error: (/** @type {Error} */ error) => {
        if (encoder === this.#encoder) this.#fail(error);
      },
    });
    encoder.addEventListener("dequeue", () => {
      if (encoder === this.#encoder && encoder.encodeQueueSize === 0) this.#settle();
    });
    this.#encoder = encoder;
    encoder.configure(encoderConfig(codec, settings));
  }

  /**
   * Encodes a picture. Resolves when the encoder takes the next one or is closed; rejects, after
   * `onError`, when it fails. Pictures are left out to hold the rate, and while eight wait.
   *
   * @param {any} picture A `VideoFrame`. Its `timestamp` is the capture time in microseconds, on
   *   the clock of `performance.now()`. The caller closes it.
   * @returns {Promise<void>}
   */
  encode(picture) {
    const taken = this.#encode(picture);
    // Callers may use `onError` instead.
    taken.catch(() => {});
    return taken;
  }

  /** @param {any} picture */
  async #encode(picture) {
    const encoder = this.#encoder;
    if (!encoder) return;
    if (encoder.encodeQueueSize < MAX_QUEUED) {
      try {
        encoder.encode(picture, { keyFrame: this.#needsKeyFrame });
      } catch (error) {
        this.#fail(/** @type {Error} */ (error));
        throw error;
      }
      this.#needsKeyFrame = false;
    }
    if (encoder.encodeQueueSize === 0) return;
    await new Promise((resolve, reject) => { this.#waiting.add({ resolve, reject }); });
  }

  /** Makes the next frame a key frame. */
  requestKeyFrame() {
    this.#needsKeyFrame = true;
  }

  /** Ends the encoder. The frames in it do not come. */
  close() {
    if (this.#encoder && this.#encoder.state !== "closed") this.#encoder.close();
    this.#encoder = null;
    this.#settle();
  }

  /** @param {Error} [error] The reason why the calls that wait fail. */
  #settle(error) {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const { resolve, reject } of waiting) error ? reject(error) : resolve();
  }

  /** @param {any} chunk @param {any} config The decoder's settings, where they have changed. */
  #take(chunk, config) {
    if (config) this.#color = colorOf(config.colorSpace ?? {});
    const { type, timestamp } = chunk;
    this.#onFrame({
      chunk: { type, timestamp, data: copyOf(chunk) }, codec: this.#codec, color: this.#color });
  }

  /** @param {Error} error */
  #fail(error) {
    this.#settle(error);
    this.close();
    this.#onError(error);
  }
}

/**
 * Decodes the results of a session with WebCodecs. Pass all frames, in order: they depend on each
 * other. While eight wait for a slow decoder, frames are skipped, up to a key frame.
 */
export class FrameDecoder {
  /** @type {any} A `VideoDecoder`; `null` before the first key frame and after an error. */
  #decoder = null;
  /** The settings of the decoder, as JSON. */
  #config = "";
  /** @type {{timestamp: number, frame: FilteredFrame}[]} The frames at the decoder. */
  #decoding = [];
  /** Whether `onLoss` was called, and no key frame has come since. */
  #isLost = false;
  /** Whether a frame was skipped, and no key frame was decoded since. */
  #hasSkipped = false;
  #onPicture;
  #onLoss;

  /**
   * @param {(picture: any, frame: FilteredFrame) => void} onPicture Called with a `VideoFrame`,
   *   which the callee closes, and its frame.
   * @param {(error: Error) => void} onLoss Called once when frames cannot be decoded before the
   *   next key frame. Call {@link Session.requestKeyFrame}.
   */
  constructor(onPicture, onLoss) {
    this.#onPicture = onPicture;
    this.#onLoss = onLoss;
  }

  /**
   * Decodes a frame. Returns `false` if it is not encoded video.
   *
   * @param {FilteredFrame} frame
   */
  decode(frame) {
    const chunk = chunkOf(frame);
    if (!chunk) return false;
    const config = decoderConfig(/** @type {Image} */ (frame.image));
    const isOther = !this.#decoder || JSON.stringify(config) !== this.#config;
    if (chunk.type === "key") this.#isLost = false;
    if (!isOther && this.#decoder.decodeQueueSize >= MAX_QUEUED) {
      // The key frame is requested when the decoder has room for it.
      this.#hasSkipped = true;
      return true;
    }
    try {
      if (chunk.type === "key") {
        this.#hasSkipped = false;
        if (isOther) this.#configure(config);
      } else if (this.#hasSkipped) {
        this.#request(new Error("the decoder is too slow"));
        return true;
      } else if (isOther) {
        this.#lose(new Error("the frame depends on a frame that was not decoded"));
        return true;
      }
      this.#decoding.push({ timestamp: chunk.timestamp, frame });
      const { EncodedVideoChunk } = /** @type {any} */ (globalThis);
      this.#decoder.decode(new EncodedVideoChunk(chunk));
    } catch (error) {
      this.#lose(/** @type {Error} */ (error));
    }
    return true;
  }

  /** Ends the decoder. The frames in it are not decoded; a later key frame begins again. */
  close() {
    if (this.#decoder && this.#decoder.state !== "closed") this.#decoder.close();
    this.#decoder = null;
    this.#decoding = [];
  }

  /** @param {object} config */
  #configure(config) {
    this.close();
    const { VideoDecoder } = /** @type {any} */ (globalThis);
    const decoder = new VideoDecoder({
      output: (/** @type {any} */ picture) => this.#show(picture),
      error: (/** @type {Error} */ error) => {
        if (decoder === this.#decoder) this.#lose(error);
      },
    });
    this.#decoder = decoder;
    this.#config = JSON.stringify(config);
    decoder.configure(config);
  }

  /** @param {any} picture */
  #show(picture) {
    // A decoder may leave out pictures, but does not change their order.
    const index = this.#decoding.findIndex(({ timestamp }) => timestamp === picture.timestamp);
    const [found] = index < 0 ? [] : this.#decoding.splice(0, index + 1).slice(-1);
    if (found) this.#onPicture(picture, found.frame);
    else picture.close();
  }

  /** @param {Error} error */
  #lose(error) {
    this.close();
    this.#request(error);
  }

  /** @param {Error} error The reason why a key frame is needed. */
  #request(error) {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#onLoss(error);
  }
}

/** @param {Image} image */
function decoderConfig({ format, color }) {
  return {
    codec: CODECS[/** @type {Codec} */ (format)], optimizeForLatency: true,
    colorSpace: {
      matrix: color?.matrix === "BT709" ? "bt709" : "smpte170m",
      fullRange: color?.range === "FULL", primaries: "bt709", transfer: "iec61966-2-1",
    },
  };
}

/**
 * @param {{matrix?: string|null, fullRange?: boolean|null}} space A color space of WebCodecs.
 * @returns {Colors}
 */
function colorOf({ matrix, fullRange }) {
  return { range: fullRange ? "FULL" : "VIDEO", matrix: matrix === "bt709" ? "BT709" : "BT601" };
}
