/** The parts of a browser that the client needs: timers, WebSockets, and a page. */
import { decode, encode } from "../sidelight/codec.js";
import "./custom-event.js";

/** Timers that end when a test says so. */
export class ManualTimers {
  /** The milliseconds since the beginning. */
  nowMs = 0;
  /** @type {Map<object, {atMs: number, action: () => void}>} */
  #timers = new Map();

  set = (action, ms) => {
    const timer = {};
    this.#timers.set(timer, { atMs: this.nowMs + ms, action });
    return timer;
  };

  clear = (timer) => { this.#timers.delete(timer); };

  /** The milliseconds until every timer ends, rising. */
  get delaysMs() {
    return [...this.#timers.values()].map(({ atMs }) => atMs - this.nowMs)
      .sort((one, other) => one - other);
  }

  /** Lets time pass, and runs the timers that end. */
  pass(ms) {
    this.nowMs += ms;
    for (const [timer, { atMs, action }] of [...this.#timers]) {
      if (atMs > this.nowMs) continue;
      this.#timers.delete(timer);
      action();
    }
  }
}

/** A WebSocket whose server is the test. */
export class TestSocket {
  static OPEN = 1;
  /** @type {TestSocket[]} Those that were opened, in order. */
  static all = [];
  readyState = 0;
  bufferedAmount = 0;
  isClosed = false;
  /** The messages of the client. */
  received = [];

  constructor(url, protocols) {
    this.url = url;
    this.protocols = protocols;
    TestSocket.all.push(this);
  }

  static get last() {
    return TestSocket.all.at(-1);
  }

  send(data) {
    this.received.push(
      typeof data === "string" ? data : decode("sidelight.v1.ClientMessage", data));
  }

  close() {
    this.isClosed = true;
  }

  /** Accepts the connection and the session. */
  accept(opened = {}) {
    this.readyState = TestSocket.OPEN;
    this.onopen();
    this.answer({ opened: { framesInFlight: 2, ...opened } });
  }

  /** Sends a message of the server. */
  answer(message) {
    this.onmessage({ data: encode("sidelight.v1.ServerMessage", message) });
  }

  /**
   * Ends the call with the number of a status code; without it the connection is lost. `details` is
   * a `google.rpc.Status` in Base64.
   */
  end(code, message = "", details = undefined) {
    if (code !== undefined) this.onmessage({ data: JSON.stringify({ code, message, details }) });
    this.onclose({ code: code === undefined ? 1006 : 4000 + code });
  }
}

/**
 * Gives the modules of the page a browser for the time of a test.
 *
 * @param {{after: (action: () => void) => void}} test
 * @param {{random?: number, pageStatus?: number|null}} given The value of `Math.random()`, and the
 *   status with which the server answers requests of the page; `null`: it does not answer.
 */
export function install(test, { random = 1, pageStatus = null } = {}) {
  const timers = new ManualTimers();
  const given = {
    setTimeout: timers.set, clearTimeout: timers.clear, WebSocket: TestSocket,
    location: { href: "http://127.0.0.1:8080/", protocol: "http:" },
    fetch: async () => {
      if (pageStatus === null) throw new TypeError("the server does not answer");
      return { status: pageStatus };
    },
  };
  const before = Object.keys(given).map(
    (key) => [key, Object.getOwnPropertyDescriptor(globalThis, key)]);
  for (const [key, value] of Object.entries(given)) {
    Object.defineProperty(globalThis, key, { value, configurable: true, writable: true });
  }
  const draw = Math.random;
  Math.random = () => random;
  TestSocket.all = [];
  test.after(() => {
    Math.random = draw;
    for (const [key, descriptor] of before) {
      if (descriptor) Object.defineProperty(globalThis, key, descriptor);
      else delete globalThis[key];
    }
  });
  return timers;
}
