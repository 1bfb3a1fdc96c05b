/**
 * A session that is opened again when its connection is lost.
 *
 * @typedef {import("./Generated/message-types.js").Open} Open
 * @typedef {import("./Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("./rates.js").EncoderTarget} EncoderTarget
 * @typedef {import("./server.js").Server} Server
 * @typedef {import("./session.js").Session} Session
 * @typedef {import("./status.js").RpcError} RpcError
 */

import { sourceOf } from "./session.js";

const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 4000;
/** The time for which a session must be open before the delay is the first one again. */
const STABLE_MS = 5000;
/** The events of a session that the connection passes on. */
const EVENTS = [
  "opened", "frame", "dropped", "analysis", "applied", "accepted", "stats", "state", "advice",
  "keyFrameNeeded", "encoderTarget", "refused",
];
/** Errors after which the same session is tried again. */
const TEMPORARY = ["UNAVAILABLE", "RESOURCE_EXHAUSTED", "CANCELLED", "UNKNOWN", "INTERNAL"];

/**
 * @typedef {"connecting"|"open"|"lost"|"refused"|"signed-out"} ConnectionState
 */

/**
 * A lasting session. Dispatches the events of {@link Session}, except `end`, and `connection` with
 * `{state, error}`.
 */
export class Connection extends EventTarget {
  /** @type {Session|null} */
  session = null;
  /** @type {ConnectionState} */
  state = "connecting";
  #delayMs = FIRST_DELAY_MS;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout>|undefined} */
  #stableTimer;
  #isClosed = false;
  /** @type {Uint8Array} The newest token that restores the session. */
  #resumeToken = new Uint8Array(0);
  /** @type {EncoderTarget|null} The wished values of the page's encoder. */
  #target = null;
  /** @type {number|undefined} The bit rate of the last session. */
  #bitRate;
  #server;
  #options;
  #pipeline;
  #isSignedOut;

  /**
   * @param {Server} server
   * @param {Partial<Open>} options
   * @param {() => string|Pipeline} pipeline Returns the pipeline of a session that cannot be
   *   resumed.
   * @param {() => Promise<boolean>} [isSignedOut] Returns whether the server no longer knows the
   *   caller. Browsers do not tell why a WebSocket was refused.
   */
  constructor(server, options, pipeline, isSignedOut = async () => false) {
    super();
    this.#server = server;
    this.#options = options;
    this.#pipeline = pipeline;
    this.#isSignedOut = isSignedOut;
  }

  /** Opens the session. Call this once. */
  open() {
    const session = this.#server.open({
      ...this.#options,
      ...(this.#resumeToken.length
        ? { resumeToken: this.#resumeToken } : sourceOf(this.#pipeline())),
    });
    this.session = session;
    for (const type of EVENTS) {
      session.addEventListener(type, (event) => {
        const { detail } = /** @type {CustomEvent} */ (event);
        if (detail.resumeToken?.length) this.#resumeToken = detail.resumeToken.slice();
        if (type === "opened") {
          clearTimeout(this.#stableTimer);
          this.#stableTimer = setTimeout(() => {
            this.#delayMs = FIRST_DELAY_MS;
          }, STABLE_MS);
          this.#change("open", null);
        }
        this.dispatchEvent(new CustomEvent(type, { detail }));
      });
    }
    session.addEventListener("end", (event) =>
      this.#end(session, /** @type {CustomEvent} */ (event).detail));
    if (this.#target) session.adaptEncoder(this.#target, { startBitRate: this.#bitRate });
  }

  /**
   * Adapts the page's encoder to the connection, as {@link Session.adaptEncoder}, in this session
   * and in later ones, which begin with the bit rate of the one before.
   *
   * @param {EncoderTarget|null} target
   */
  adaptEncoder(target) {
    this.session?.adaptEncoder(target, { startBitRate: this.#bitRate });
    this.#target = target;
  }

  /** Ends the session, and does not open it again. */
  close() {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#stableTimer);
    this.session?.close();
    this.session = null;
  }

  /** @param {Session} session @param {RpcError|null} error */
  async #end(session, error) {
    if (session !== this.session) return;
    this.session = null;
    this.#bitRate = session.encoderTarget?.bitrate;
    clearTimeout(this.#stableTimer);
    const signedOut = error?.code === "UNAUTHENTICATED" || await this.#isSignedOut();
    if (this.#isClosed) return;
    if (signedOut) {
      return this.#change("signed-out", error);
    }
    if (error?.reason === "SESSION_CLOSED") return this.#change("refused", error);
    if (error && !TEMPORARY.includes(error.code)) {
      // A token that another server issued, or a pipeline that it does not know.
      if (!this.#resumeToken.length) return this.#change("refused", error);
      this.#resumeToken = new Uint8Array(0);
    }
    this.#change("lost", error);
    this.#timer = setTimeout(() => this.open(), this.#delayMs * (0.5 + Math.random() / 2));
    this.#delayMs = Math.min(2 * this.#delayMs, MAX_DELAY_MS);
  }

  /** @param {ConnectionState} state @param {RpcError|null} error */
  #change(state, error) {
    this.state = state;
    this.dispatchEvent(new CustomEvent("connection", { detail: { state, error } }));
  }
}
