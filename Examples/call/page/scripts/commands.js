/**
 * Commands and events on the data channel, as JSON.
 *
 * @typedef {import("./types.js").CommandError} CommandError
 */

/** A command was refused. */
export class Refusal extends Error {
  /** @param {CommandError} error */
  constructor(error) {
    super(error.message);
    this.error = error;
  }
}

/** The data channel. Dispatches the call server's events by their names. */
export class Commands extends EventTarget {
  /** @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>} */
  #waiting = new Map();
  #lastId = 0;

  /** @param {RTCDataChannel} channel */
  constructor(channel) {
    super();
    this.channel = channel;
    channel.addEventListener("message", ({ data }) => this.#receive(JSON.parse(data)));
    channel.addEventListener("close", () => this.#rejectAll());
    this.opened = new Promise((resolve) => channel.addEventListener("open", resolve));
  }

  /**
   * Sends a command, and returns its answer. Throws a `Refusal` if it is refused.
   *
   * @param {Record<string, unknown>} command
   * @returns {Promise<any>}
   */
  async send(command) {
    await this.opened;
    const id = (this.#lastId += 1);
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.channel.send(JSON.stringify({ ...command, id }));
    return answer;
  }

  /**
   * Sends a command that has no answer.
   *
   * @param {Record<string, unknown>} command
   */
  notify(command) {
    if (this.channel.readyState === "open") this.channel.send(JSON.stringify(command));
  }

  /** @param {any} message */
  #receive(message) {
    if ("reply" in message) {
      const waiting = this.#waiting.get(message.reply);
      this.#waiting.delete(message.reply);
      if (message.error) waiting?.reject(new Refusal(message.error));
      else waiting?.resolve(message);
    } else {
      this.dispatchEvent(new CustomEvent(message.event, { detail: message }));
    }
  }

  #rejectAll() {
    const error = { code: "UNAVAILABLE", message: "The call has ended." };
    for (const { reject } of this.#waiting.values()) reject(new Refusal(error));
    this.#waiting.clear();
  }
}
