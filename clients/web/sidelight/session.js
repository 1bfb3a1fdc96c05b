/**
 * A session at the server: frames go in, outcomes come out, and the pipeline changes in between.
 *
 * @typedef {import("./Generated/message-types.js").Accepted} Accepted
 * @typedef {import("./Generated/message-types.js").Dropped} Dropped
 * @typedef {import("./Generated/message-types.js").FilteredFrame} FilteredFrame
 * @typedef {import("./Generated/message-types.js").Image} Image
 * @typedef {import("./Generated/message-types.js").Open} Open
 * @typedef {import("./Generated/message-types.js").Opened} Opened
 * @typedef {import("./Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("./Generated/message-types.js").ParameterValue} ParameterValue
 * @typedef {import("./Generated/message-types.js").SetEncoder} SetEncoder
 * @typedef {import("./call.js").Endpoint} Endpoint
 * @typedef {import("./call.js").Method} Method
 * @typedef {import("./encoded.js").Chunk} Chunk
 * @typedef {import("./encoded.js").Codec} Codec
 * @typedef {import("./encoded.js").Colors} Colors
 * @typedef {import("./rates.js").EncoderTarget} EncoderTarget
 */

import { Call } from "./call.js";
import { imageOf, isCodec } from "./encoded.js";
import { Outcomes } from "./outcomes.js";
import { RateController } from "./rates.js";
import { RpcError } from "./status.js";

/** @type {Method} */
const PROCESS = {
  name: "FrameFilter/Process",
  request: "sidelight.v1.ClientMessage",
  response: "sidelight.v1.ServerMessage",
};
/** The size of unsent messages at which no further frame is sent, in bytes. */
const MAX_BUFFERED_BYTES = 1 << 20;
/** The shortest time between two requests for a key frame of the client's encoder. */
const KEY_FRAME_INTERVAL_MS = 500;
/** The smallest relative change of a bit rate that is reported. */
const LEAST_CHANGE = 0.05;
/** The results that may be unacknowledged; for encoded video the server limits their bytes too. */
const OUTPUT_WINDOW = 64;

/**
 * @typedef {object} FrameToSend
 * @property {Uint8Array} [jpeg] The picture as JPEG.
 * @property {Chunk} [chunk] The picture as a frame of encoded video.
 * @property {Codec} [codec] The codec of `chunk`.
 * @property {Colors} [color] The colours of `chunk`, which VP8 does not state.
 * @property {Partial<Image>} [image] The picture in another format. Key frames of video have
 *   `encoded.keyFrame`.
 * @property {number} [sequence] The frame's number, higher than earlier ones; the next one if it is
 *   absent.
 * @property {number} [capturedMs] The capture time, on the clock of `performance.now()`; the
 *   chunk's or now if it is absent.
 * @property {number} [budgetMs] The time in which the frame must be filtered.
 *
 * @typedef {number|boolean|string|number[]|ParameterValue} Value The value of a parameter: numbers,
 *   flags, texts and vectors as themselves.
 *
 * @typedef {ByName<ByName<Value>>} Changes The values of parameters, by stage and parameter.
 */

/**
 * @template T
 * @typedef {Map<string, T>|Record<string, T>} ByName
 */

/**
 * A session over one connection. Dispatches, with a message of the server as `detail`:
 * `opened`, `frame`, `dropped`, `analysis`, `applied`, `accepted`, `stats`, `state`, `advice`,
 * `keyFrameNeeded`; with `{requestId, error}`: `refused`; with an {@link EncoderTarget}:
 * `encoderTarget`; and with an {@link RpcError} or `null`, once: `end`.
 */
export class Session extends EventTarget {
  #call;
  #requestId = 0;
  /** @type {Map<number, {resolve: (accepted: Accepted) => void, reject: (error: Error) => void}>} */
  #requests = new Map();
  /** @type {Set<number>} The frames without an outcome. */
  #inFlight = new Set();
  #sequence = 0;
  /** @type {Record<string, any>|null} The newest frame, while the server does not accept frames. */
  #waiting = null;
  /** The codec whose frames may depend on the ones before; empty: only a key frame can be sent. */
  #stream = "";
  #keyFrameNeededMs = -Infinity;
  #isFinished = false;
  /** @type {RateController|null} */
  #rates = null;
  /** @type {EncoderTarget|null} The values of the last event `encoderTarget`. */
  #announced = null;
  /** @type {Outcomes|null} */
  #outcomes = null;
  /** @type {RpcError|null|undefined} The reason of the end; `undefined` before. */
  #ended;
  /** @type {Opened|null} */
  opened = null;

  /** @param {Endpoint} endpoint @param {Partial<Open>} options */
  constructor(endpoint, options) {
    super();
    this.#call = new Call(endpoint, PROCESS, (message) => this.#receive(message), (error) => {
      this.#end(error);
      this.#dispatch("end", error);
    });
    this.#call.send({ open: withOutputWindow(options) });
  }

  /** The number of frames without an outcome. */
  get inFlight() {
    return this.#inFlight.size;
  }

  /** Whether the server accepts a frame now. */
  get hasCredit() {
    return this.opened !== null
      && this.#inFlight.size + (this.#outcomes?.unreadCount ?? 0) < this.opened.framesInFlight
      && this.#call.bufferedBytes < MAX_BUFFERED_BYTES;
  }

  /**
   * Whether another picture may be encoded and sent now. Ask before each picture, and leave it out
   * instead of encoding it for a queue. As {@link hasCredit}, and with {@link adaptEncoder} also
   * whether the link takes it.
   */
  get mayEncode() {
    return this.hasCredit && !this.#waiting && (this.#rates?.maySend(seconds()) ?? true);
  }

  /**
   * Adapts the page's encoder to the connection: from now on, {@link encoderTarget} and events tell
   * its bit rate, size and frame rate, as the server's answers allow.
   *
   * @param {EncoderTarget|null} target The wished values, which are the maximum. A later call
   *   replaces them; `null` ends the adaptation.
   * @param {{startBitRate?: number}} [options] The first bit rate.
   * @throws {RangeError} If a value is not positive.
   */
  adaptEncoder(target, options) {
    this.#announced = null;
    if (!target) {
      this.#rates = null;
      return;
    }
    for (const name of /** @type {const} */ (["bitrate", "width", "height", "framerate"])) {
      const value = target[name];
      if (!(value > 0)) throw new RangeError(`target.${name} is ${value}; it must be positive`);
    }
    if (this.#rates) this.#rates.setTarget(target, seconds());
    else this.#rates = new RateController(target, options);
    this.#announce();
  }

  /** The values to encode the next frame with; `null` without {@link adaptEncoder}. */
  get encoderTarget() {
    return this.#rates?.current ?? null;
  }

  /**
   * Sends a frame, or keeps it until the server accepts one. A newer frame replaces a kept one,
   * whose outcome is `dropped`. Has no effect after {@link finish} and after the end.
   *
   * A frame of encoded video replaces a kept one only if it is a key frame. Otherwise it is dropped
   * itself as `QUEUE_FULL`, the frames that depend on it as `NOT_DECODABLE`, and the event
   * `keyFrameNeeded` follows.
   *
   * @param {FrameToSend} frame
   * @returns {number} The frame's sequence.
   * @throws {TypeError} If the frame has no picture, or its codec is missing or unknown.
   */
  send({ jpeg, chunk, codec, color, image = pictureOf(jpeg, chunk, codec, color),
    sequence = this.#sequence + 1,
    capturedMs = chunk ? chunk.timestamp / 1000 : performance.now(), budgetMs }) {
    if (this.#isFinished || this.#ended !== undefined) return sequence;
    const isDependent = isCodec(image.format) && !image.encoded?.keyFrame;
    if (isDependent && (this.#waiting || this.#stream !== image.format)) {
      this.#dropDependent(sequence, this.#stream === image.format ? "QUEUE_FULL" : "NOT_DECODABLE");
      return sequence;
    }
    this.#dropWaiting();
    if (isCodec(image.format)) this.#stream = image.format;
    this.#sequence = sequence;
    this.#waiting = {
      sequence, image,
      captureTimeNs: Math.round(capturedMs * 1e6),
      budgetUs: budgetMs === undefined ? undefined : Math.round(budgetMs * 1000),
    };
    this.#proceed();
    return sequence;
  }

  /**
   * Returns the outcomes from now on, each frame's in the order of the server's answers. They end
   * with the session, and throw the {@link RpcError} that ends it. While outcomes are not read, the
   * session sends no frames.
   *
   * @returns {Outcomes}
   */
  outcomes() {
    if (this.#outcomes && !this.#outcomes.hasEnded) {
      throw new Error("the session's outcomes are read by another loop");
    }
    this.#outcomes = new Outcomes((outcome) => {
      if (outcome?.kind === "frame") this.#acknowledge(outcome);
      this.#proceed();
    });
    if (this.#ended !== undefined) this.#outcomes.end(this.#ended);
    return this.#outcomes;
  }

  /**
   * Replaces the pipeline. Throws an {@link RpcError} if the server refuses it; the earlier pipeline
   * then stays.
   *
   * @param {string|Pipeline} pipeline The pipeline or its text.
   */
  select(pipeline) {
    return this.#request("select", sourceOf(pipeline));
  }

  /**
   * Changes parameters: `update({ tone: { intensity: 0.5 } })` of the pipeline `tone: sepiaTone`.
   *
   * @param {Changes} changes
   */
  update(changes) {
    const stages = [...mapOf(changes)].map(([stage, values]) => ({
      stage,
      parameters: new Map(
        [...mapOf(values)].map(([name, value]) => [name, parameterValue(value)])),
    }));
    return this.#request("update", { stages });
  }

  /**
   * Activates or deactivates a stage.
   *
   * @param {string} stage
   * @param {boolean} isActive
   */
  activate(stage, isActive) {
    return this.#request("activate", { stages: new Map([[stage, isActive]]) });
  }

  /**
   * Pauses filtering. The event `state` follows.
   *
   * @param {{passThrough?: boolean}} options `passThrough` returns frames unfiltered; without it
   *   they are dropped.
   */
  pause({ passThrough = false } = {}) {
    this.#call.send({ pause: { passThrough } });
  }

  /** Filters again after {@link pause}. */
  resume() {
    this.#call.send({ resume: {} });
  }

  /**
   * Changes the bit rate, frame rate or size of the output's encoder; other settings stay.
   *
   * @param {Partial<Omit<SetEncoder, "requestId">>} settings
   */
  setEncoder(settings) {
    return this.#request("setEncoder", settings);
  }

  /** Requests a key frame of the output, for a receiver that has lost a frame. */
  requestKeyFrame() {
    this.#call.send({ requestKeyFrame: {} });
  }

  /** Ends the client's side. The outcomes of the frames that were sent follow, then the end. */
  finish() {
    this.#isFinished = true;
    this.#proceed();
  }

  /** Ends the session at once. There are no events afterwards. */
  close() {
    this.#call.cancel();
    this.#end(null);
  }

  /** Sends the frame that waits, if the server accepts one; then the end of the client's side. */
  #proceed() {
    if (this.#waiting && this.hasCredit) {
      const { sequence, image } = this.#waiting;
      this.#inFlight.add(sequence);
      this.#call.send({ frame: this.#waiting });
      this.#rates?.sent(sequence, image.inline?.length ?? 0, seconds());
      this.#waiting = null;
    }
    if (this.#isFinished && !this.#waiting) this.#call.halfClose();
  }

  #dropWaiting() {
    if (!this.#waiting) return;
    const { sequence } = this.#waiting;
    this.#waiting = null;
    this.#stream = "";
    this.#drop(sequence, "SUPERSEDED");
  }

  /**
   * Drops a frame that depends on others, and with it all frames up to the next key frame.
   *
   * @param {number} sequence
   * @param {string} reason
   */
  #dropDependent(sequence, reason) {
    const isStart = this.#sequence === 0;
    this.#sequence = sequence;
    this.#stream = "";
    this.#drop(sequence, reason);
    const nowMs = performance.now();
    if (nowMs - this.#keyFrameNeededMs < KEY_FRAME_INTERVAL_MS) return;
    this.#keyFrameNeededMs = nowMs;
    this.#dispatch("keyFrameNeeded", { sequence, reason: isStart ? "START" : "LOSS" });
  }

  /** @param {number} sequence @param {string} reason */
  #drop(sequence, reason) {
    this.#take("dropped", {
      firstSequence: sequence, lastSequence: sequence, count: 1, reason, stage: "UNSPECIFIED",
      lateUs: 0,
    });
  }

  /**
   * @param {string} kind
   * @param {object} content
   * @returns {Promise<Accepted>}
   */
  #request(kind, content) {
    const requestId = (this.#requestId += 1);
    this.#call.send({ [kind]: { ...content, requestId } });
    const answer = new Promise((resolve, reject) => {
      if (this.#ended === undefined) this.#requests.set(requestId, { resolve, reject });
      else reject(endError(this.#ended));
    });
    // Callers may listen to the event `refused` instead.
    answer.catch(() => {});
    return answer;
  }

  /** @param {any} message */
  #receive(message) {
    const [kind] = Object.keys(message);
    if (!kind) return;
    const content = message[kind];
    if (kind === "opened") this.opened = content;
    else if (kind === "frame") {
      this.#inFlight.delete(Number(content.sequence));
      this.#rates?.acknowledged(
        Number(content.sequence), seconds(), (content.timing?.totalUs ?? 0) / 1e6);
      this.#announce();
    } else if (kind === "dropped") {
      this.#forget(content);
      this.#rates?.discarded(Number(content.lastSequence), seconds());
    }
    if (kind === "error") {
      const error = RpcError.of(content.status);
      const requestId = Number(content.requestId);
      this.#answer(requestId)?.reject(error);
      this.#dispatch("refused", { requestId, error });
    } else {
      if (kind === "accepted") this.#answer(Number(content.requestId))?.resolve(content);
      this.#take(kind, content);
    }
    this.#proceed();
  }

  /**
   * Passes a message on.
   *
   * @param {string} kind
   * @param {any} content
   */
  #take(kind, content) {
    if (kind === "frame" || kind === "dropped") this.#outcomes?.push({ kind, ...content });
    this.#dispatch(kind, content);
    if (kind === "frame" && this.#outcomes?.hasEnded !== false) this.#acknowledge(content);
  }

  /**
   * Tells the server that a result and all earlier ones are consumed: it adapts the rate of encoded
   * results.
   *
   * @param {FilteredFrame} frame
   */
  #acknowledge({ sequence }) {
    if (this.opened?.outputWindow) this.#call.send({ ack: { sequence } });
  }

  /** Reports values for the encoder that differ from the last ones by more than noise. */
  #announce() {
    if (!this.#rates) return;
    const { current: target, target: { bitrate: highest } } = this.#rates;
    const last = this.#announced;
    if (last && last.width === target.width && last.framerate === target.framerate) {
      const isHighest = target.bitrate === highest && last.bitrate !== highest;
      if (Math.abs(target.bitrate / last.bitrate - 1) < LEAST_CHANGE && !isHighest) return;
    }
    this.#announced = target;
    this.#dispatch("encoderTarget", target);
  }

  /** @param {number} requestId */
  #answer(requestId) {
    const request = this.#requests.get(requestId);
    this.#requests.delete(requestId);
    return request;
  }

  /** @param {Dropped} dropped */
  #forget({ firstSequence, lastSequence }) {
    for (const sequence of this.#inFlight) {
      if (sequence >= firstSequence && sequence <= lastSequence) this.#inFlight.delete(sequence);
    }
  }

  /** @param {RpcError|null} error */
  #end(error) {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.opened = null;
    this.#waiting = null;
    this.#outcomes?.end(error);
    for (const { reject } of this.#requests.values()) reject(endError(error));
    this.#requests.clear();
  }

  /** @param {string} type @param {unknown} detail */
  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/** The time on the clock of the rates. */
function seconds() {
  return performance.now() / 1000;
}

/**
 * Returns options with a window of results where they may be encoded video. Under NEVER_DROP the
 * window would delay the session, and named outputs are not acknowledged.
 *
 * @param {Partial<Open>} options
 * @returns {Partial<Open>}
 */
function withOutputWindow(options) {
  const { output, outputs, dropPolicy, analysisOnly } = options;
  const format = output?.format || "UNSPECIFIED";
  const mayBeEncoded = !analysisOnly && !outputs?.length && dropPolicy !== "NEVER_DROP"
    && (format === "UNSPECIFIED" || isCodec(format));
  return mayBeEncoded ? { outputWindow: OUTPUT_WINDOW, ...options } : options;
}

/**
 * @param {Uint8Array|undefined} jpeg
 * @param {Chunk|undefined} chunk
 * @param {Codec|undefined} codec
 * @param {Colors|undefined} color
 * @returns {Partial<Image>}
 */
function pictureOf(jpeg, chunk, codec, color) {
  if (chunk) return imageOf(chunk, codec, color);
  if (jpeg) return { format: "JPEG", inline: jpeg };
  throw new TypeError("the frame has no picture; it must have jpeg, chunk or image");
}

/**
 * Returns the fields of a pipeline or its text.
 *
 * @param {string|Pipeline} pipeline
 */
export function sourceOf(pipeline) {
  return typeof pipeline === "string" ? { pipelineText: pipeline } : { pipeline };
}

/** @param {RpcError|null} error */
function endError(error) {
  return error ?? new RpcError("CANCELLED", "The session has ended.");
}

/**
 * @template T
 * @param {ByName<T>} values
 * @returns {Map<string, T>}
 */
function mapOf(values) {
  return values instanceof Map ? values : new Map(Object.entries(values));
}

/** @param {Value} value @returns {ParameterValue} */
function parameterValue(value) {
  if (Array.isArray(value)) return { vector: { values: value } };
  switch (typeof value) {
    case "number": return { number: value };
    case "boolean": return { flag: value };
    case "string": return { text: value };
    default: return value;
  }
}
