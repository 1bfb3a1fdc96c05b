/**
 * The time of each stage. The server reports the time of a whole frame, so that the time of a stage
 * is the difference between the pipelines that end after it and before it. They are measured in a
 * separate session, one frame at a time.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("../sidelight/Generated/message-types.js").Stage} Stage
 * @typedef {import("../sidelight/index.js").Session} Session
 */

import { rememberOwnSession } from "../own-sessions.js";
import { server } from "../server.js";
import { nextEvent } from "../sidelight/index.js";

/** The frames of every measurement, of which the quickest counts. */
const FRAMES = 4;
/** Stages after this one are not measured. */
const MAX_STAGES = 16;
const ENDED = "the session for measurements has ended";

/** Measures the stages of pipelines, one pipeline at a time. */
export class StageTimer {
  /** @type {Session|null} */
  #session = null;
  #sequence = 0;
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();
  #number = 0;

  /**
   * Returns the milliseconds of each stage, or `null` if another measurement was requested.
   *
   * @param {Pipeline} pipeline
   * @param {Uint8Array} jpeg A frame.
   * @returns {Promise<{stages: number[], codec: number}|null>} `codec` is the time to decode and
   *   encode a frame.
   */
  measure(pipeline, jpeg) {
    const number = (this.#number += 1);
    const result = this.#last.then(() => (number === this.#number
      ? this.#measure(pipeline, jpeg, () => number !== this.#number) : null));
    this.#last = result.catch(() => null);
    return result;
  }

  /** @param {Pipeline} pipeline @param {Uint8Array} jpeg @param {() => boolean} isOutdated */
  async #measure(pipeline, jpeg, isOutdated) {
    const base = await this.#time({ ...pipeline, stages: [codecStage()] }, jpeg);
    let before = base;
    const stages = [];
    for (let count = 1; count <= Math.min(pipeline.stages.length, MAX_STAGES); count += 1) {
      if (isOutdated()) return null;
      const isActive = pipeline.stages[count - 1].active !== false;
      const whole = isActive
        ? await this.#time({ ...pipeline, stages: pipeline.stages.slice(0, count) }, jpeg) : before;
      stages.push(Math.max(0, whole - before));
      before = Math.max(before, whole);
    }
    return { stages, codec: base };
  }

  /**
   * Returns the milliseconds of the quickest frame.
   *
   * @param {Pipeline} pipeline
   * @param {Uint8Array} jpeg
   */
  async #time(pipeline, jpeg) {
    const session = await this.#open();
    session.select(pipeline);
    let least = Infinity;
    for (let count = 0; count < FRAMES; count += 1) {
      if (!session.opened) throw new Error(ENDED);
      this.#sequence += 1;
      const outcome = nextEvent(session, ["frame", "dropped"]);
      session.send({ sequence: this.#sequence, jpeg, capturedMs: 0 });
      const { type, detail } = await outcome;
      if (type === "end") throw new Error(ENDED);
      const { timing } = detail;
      least = Math.min(least, timing ? timing.processUs / 1000 : Infinity);
    }
    if (!Number.isFinite(least)) throw new Error("no frame was filtered");
    return least;
  }

  /** @returns {Promise<Session>} */
  async #open() {
    if (this.#session?.opened) return this.#session;
    const session = server.open({ label: "studio, measuring", dropPolicy: "NEVER_DROP" });
    session.addEventListener("end", () => { this.#session = null; });
    this.#session = session;
    await nextEvent(session, ["opened"]);
    if (!session.opened) throw new Error("the session for measurements was refused");
    rememberOwnSession(session.opened.sessionId);
    return session;
  }
}

/**
 * A stage that costs little time, so that a frame is decoded and encoded.
 *
 * @returns {Stage}
 */
function codecStage() {
  return {
    id: "", failurePolicy: "UNSPECIFIED",
    filter: { name: "colorControls", parameters: new Map([["brightness", { number: 0.004 }]]) },
  };
}
