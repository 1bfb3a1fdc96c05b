/**
 * Small pictures of all filters in turn, in a separate session.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("../sidelight/index.js").RpcError} RpcError
 * @typedef {import("../sidelight/index.js").Session} Session
 */

import { rememberOwnSession } from "../own-sessions.js";
import { server } from "../server.js";
import { nextEvent } from "../sidelight/index.js";

const REOPEN_MS = 3000;

/**
 * @typedef {object} Thumbnail
 * @property {Uint8Array|null} jpeg The filtered picture; `null` if it is the original.
 * @property {RpcError|null} refusal The reason why it is missing.
 */

/** A session that filters one small picture at a time. */
export class ThumbnailSession {
  /** @type {Session|null} */
  #session = null;
  #sequence = 0;
  #closedMs = -Infinity;

  /**
   * Filters a picture. Returns `null` without a session.
   *
   * @param {Pipeline} pipeline
   * @param {Uint8Array} jpeg
   * @returns {Promise<Thumbnail|null>}
   */
  async filter(pipeline, jpeg) {
    const session = await this.#open();
    if (!session) return null;
    const answer = nextEvent(session, ["accepted", "refused"]);
    session.select(pipeline);
    const answered = await answer;
    if (answered.type === "end") return null;
    if (answered.type === "refused") return { jpeg: null, refusal: answered.detail.error };
    const outcome = nextEvent(session, ["frame", "dropped"]);
    session.send({ sequence: (this.#sequence += 1), jpeg, capturedMs: 0 });
    const { type, detail } = await outcome;
    if (type !== "frame") return null;
    const pixels = detail.image?.inline;
    return { jpeg: detail.unmodified || !pixels?.length ? null : pixels, refusal: null };
  }

  /** @returns {Promise<Session|null>} */
  async #open() {
    if (this.#session) return this.#session;
    if (performance.now() - this.#closedMs < REOPEN_MS) return null;
    const session = server.open({ label: "studio, gallery", allowUnmodified: true });
    session.addEventListener("end", () => {
      this.#session = null;
      this.#closedMs = performance.now();
    });
    const { type, detail } = await nextEvent(session, ["opened"]);
    if (type === "opened") rememberOwnSession(detail.sessionId);
    this.#session = type === "opened" ? session : null;
    return this.#session;
  }
}
