/**
 * The signalling of the call: a WebSocket that carries offers, answers and the participants of the
 * room. Its end is the end of the participation.
 */

/** The signalling. Dispatches `room` with the participants, and `end`. */
export class Signalling extends EventTarget {
  /** @type {Map<number, {resolve: (message: any) => void, reject: (error: Error) => void}>} */
  #waiting = new Map();
  #lastId = 0;
  /** @type {WebSocket} */
  #socket;

  constructor() {
    super();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new WebSocket(`${scheme}//${location.host}/signalling`);
    this.#socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(data)));
    this.#socket.addEventListener("close", () => {
      const error = new Error("The call server is not reachable, or ended the call.");
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
      this.dispatchEvent(new Event("end"));
    });
    this.opened = new Promise((resolve, reject) => {
      this.#socket.addEventListener("open", () => resolve(undefined));
      this.#socket.addEventListener("error", () =>
        reject(new Error("The call server is not reachable.")));
    });
  }

  /**
   * Sends a request, and returns its answer.
   *
   * @param {Record<string, unknown>} request
   * @returns {Promise<any>}
   */
  async request(request) {
    await this.opened;
    const id = (this.#lastId += 1);
    const answer = new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
    this.#socket.send(JSON.stringify({ ...request, id }));
    return answer;
  }

  close() {
    this.#socket.close();
  }

  /** @param {any} message */
  #receive(message) {
    if ("reply" in message) {
      const waiting = this.#waiting.get(message.reply);
      this.#waiting.delete(message.reply);
      if (message.error) waiting?.reject(new Error(message.error.message));
      else waiting?.resolve(message);
    } else if (message.event === "room") {
      this.dispatchEvent(new CustomEvent("room", { detail: message.participants }));
    }
  }
}
