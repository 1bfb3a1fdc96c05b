/**
 * A session at the server: frames go in, outcomes come out, and the pipeline changes in between.
 *
 * @typedef {import("../protocol/Generated/message-types.js").Open} Open
 * @typedef {import("../protocol/Generated/message-types.js").Opened} Opened
 * @typedef {import("../protocol/Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("../protocol/Generated/message-types.js").ParameterValue} ParameterValue
 */

import { Call } from "../protocol/call.js";
import { PROCESS } from "../protocol/services.js";
import { RpcError } from "../protocol/status.js";

/** The size of unsent messages at which no further frame is sent, in bytes. */
const MAX_BUFFERED_BYTES = 1 << 20;

/**
 * A session over one connection. Dispatches, with a message of the server as `detail`:
 * `opened`, `frame`, `dropped`, `analysis`, `applied`, `accepted`, `stats`, `state`, `advice`; with
 * `{requestId, error}`: `refused`; and with an {@link RpcError} or `null`, once: `end`.
 */
export class Session extends EventTarget {
  #call;
  #requestId = 0;
  /** @type {Set<number>} The frames without an outcome. */
  #inFlight = new Set();
  /** @type {Opened|null} */
  opened = null;

  /** @param {Partial<Open>} options */
  constructor(options) {
    super();
    this.#call = new Call(PROCESS, (message) => this.#receive(message), (error) => {
      this.opened = null;
      this.#dispatch("end", error);
    });
    this.#call.send({ open: options });
  }

  /** The number of frames without an outcome. */
  get inFlight() {
    return this.#inFlight.size;
  }

  /** Whether the server accepts a frame now. */
  get hasCredit() {
    return this.opened !== null && this.#inFlight.size < this.opened.framesInFlight
      && this.#call.bufferedBytes < MAX_BUFFERED_BYTES;
  }

  /**
   * Sends a frame as JPEG.
   *
   * @param {{sequence: number, jpeg: Uint8Array, capturedMs: number, budgetMs?: number}} frame The
   *   capture time is on the clock of `performance.now()`.
   */
  send({ sequence, jpeg, capturedMs, budgetMs }) {
    this.#inFlight.add(sequence);
    this.#call.send({ frame: {
      sequence,
      image: { format: "JPEG", inline: jpeg },
      captureTimeNs: Math.round(capturedMs * 1e6),
      budgetUs: budgetMs === undefined ? undefined : Math.round(budgetMs * 1000),
    } });
  }

  /**
   * Replaces the pipeline. Returns the request's number.
   *
   * @param {Pipeline} pipeline
   */
  select(pipeline) {
    const requestId = (this.#requestId += 1);
    this.#call.send({ select: { pipeline, requestId } });
    return requestId;
  }

  /**
   * Changes parameters. Returns the request's number.
   *
   * @param {Map<string, Map<string, ParameterValue>>} changes By stage and parameter.
   */
  update(changes) {
    const requestId = (this.#requestId += 1);
    const stages = [...changes].map(([stage, parameters]) => ({ stage, parameters }));
    this.#call.send({ update: { stages, requestId } });
    return requestId;
  }

  /**
   * Activates or deactivates a stage. Returns the request's number.
   *
   * @param {string} stage
   * @param {boolean} isActive
   */
  activate(stage, isActive) {
    const requestId = (this.#requestId += 1);
    this.#call.send({ activate: { stages: new Map([[stage, isActive]]), requestId } });
    return requestId;
  }

  /** Ends the session at once. There are no events afterwards. */
  close() {
    this.opened = null;
    this.#call.cancel();
  }

  /** @param {any} message */
  #receive(message) {
    const [kind] = Object.keys(message);
    if (!kind) return;
    const content = message[kind];
    if (kind === "opened") this.opened = content;
    else if (kind === "frame") this.#inFlight.delete(Number(content.sequence));
    else if (kind === "dropped") this.#drop(content);
    if (kind === "error") {
      const error = RpcError.of(content.status);
      this.#dispatch("refused", { requestId: Number(content.requestId), error });
    } else {
      this.#dispatch(kind, content);
    }
  }

  /** @param {{firstSequence: number|bigint, lastSequence: number|bigint}} dropped */
  #drop({ firstSequence, lastSequence }) {
    for (const sequence of this.#inFlight) {
      if (sequence >= firstSequence && sequence <= lastSequence) this.#inFlight.delete(sequence);
    }
  }

  /** @param {string} type @param {unknown} detail */
  #dispatch(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
