/**
 * The outcomes of a session's frames, for `for await`.
 *
 * @typedef {import("./Generated/message-types.js").Dropped} Dropped
 * @typedef {import("./Generated/message-types.js").FilteredFrame} FilteredFrame
 */

/**
 * @typedef {{kind: "frame"} & FilteredFrame} FilteredOutcome
 * @typedef {{kind: "dropped"} & Dropped} DroppedOutcome One or more frames that were not filtered.
 * @typedef {FilteredOutcome|DroppedOutcome} Outcome
 *
 * @typedef {object} Reader
 * @property {(result: IteratorResult<Outcome, undefined>) => void} resolve
 * @property {(error: Error) => void} reject
 */

/**
 * A queue of outcomes. The session counts unread ones as frames in flight, so that a slow reader
 * slows the sender down.
 *
 * @implements {AsyncIterableIterator<Outcome>}
 */
export class Outcomes {
  /** @type {Outcome[]} */
  #unread = [];
  /** @type {Reader[]} The calls of `next` that wait. */
  #readers = [];
  #hasEnded = false;
  /** @type {Error|null} */
  #error = null;
  #onRead;

  /**
   * @param {(outcome?: Outcome) => void} onRead Called with an outcome that was read, and when no
   *   further one will be, with the last unread one.
   */
  constructor(onRead) {
    this.#onRead = onRead;
  }

  [Symbol.asyncIterator]() {
    return this;
  }

  /** The number of unread outcomes from the server. */
  get unreadCount() {
    return this.#unread.filter((outcome) => !isOfClient(outcome)).length;
  }

  /** Whether no further outcomes will come. */
  get hasEnded() {
    return this.#hasEnded;
  }

  /** @param {Outcome} outcome */
  push(outcome) {
    if (this.#hasEnded) return;
    const reader = this.#readers.shift();
    if (reader) {
      reader.resolve({ value: outcome, done: false });
      return this.#onRead(outcome);
    }
    const last = this.#unread.at(-1);
    // Frames that the client drops need no credit, and would otherwise fill the queue.
    if (last && isOfClient(last) && isOfClient(outcome) && last.reason === outcome.reason
      && Number(last.lastSequence) + 1 === outcome.firstSequence) {
      last.lastSequence = outcome.lastSequence;
      last.count += outcome.count;
    } else {
      this.#unread.push(outcome);
    }
  }

  /**
   * Ends the outcomes after the unread ones.
   *
   * @param {Error|null} error
   */
  end(error) {
    this.#hasEnded = true;
    this.#error = error;
    for (const reader of this.#readers.splice(0)) this.#finish(reader);
  }

  /** @returns {Promise<IteratorResult<Outcome, undefined>>} */
  next() {
    const value = this.#unread.shift();
    if (value) {
      this.#onRead(value);
      return Promise.resolve({ value, done: false });
    }
    return new Promise((resolve, reject) => {
      const reader = { resolve, reject };
      if (this.#hasEnded) this.#finish(reader);
      else this.#readers.push(reader);
    });
  }

  /** @returns {Promise<IteratorResult<Outcome, undefined>>} */
  async return() {
    const unread = this.#unread.splice(0);
    this.end(null);
    this.#onRead(unread.reverse().find(({ kind }) => kind === "frame"));
    return { value: undefined, done: true };
  }

  /** @param {Reader} reader */
  #finish({ resolve, reject }) {
    const error = this.#error;
    this.#error = null;
    if (error) reject(error);
    else resolve({ value: undefined, done: true });
  }
}

/**
 * Returns whether a frame was dropped before it was sent.
 *
 * @param {Outcome} outcome
 * @returns {outcome is DroppedOutcome}
 */
function isOfClient(outcome) {
  return outcome.kind === "dropped" && outcome.stage === "UNSPECIFIED";
}
