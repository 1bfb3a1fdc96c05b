/** One RPC as one WebSocket: binary messages are serialized protobuf messages. */

import { decode, encode } from "./codec.js";
import { codeName, decodeStatus, RpcError } from "./status.js";

const SUBPROTOCOL = "sidelight.v1";
/** The state of a WebSocket that is open. */
const OPEN = 1;
/** The text message by which the client ends its side. */
const END = "end";
/** Close codes are this number plus the number of the status code. */
const FIRST_CLOSE_CODE = 4000;
const NORMAL_CLOSE_CODE = 1000;

/**
 * @typedef {object} Method
 * @property {string} name Such as `FrameFilter/Process`.
 * @property {string} request The full name of the request message.
 * @property {string} response The full name of the response message.
 */

/**
 * @typedef {object} Endpoint The way to a server.
 * @property {string|URL} [url] The server's address; the page's if it is absent.
 * @property {string} [token] The token that authenticates the caller.
 * @property {typeof WebSocket} [WebSocket] The class of sockets, if the platform does not have one.
 */

/** A call. The callbacks run until the end, which `onEnd` reports once. */
export class Call {
  #socket;
  #method;
  /** @type {RpcError|null} The status that came before the close frame. */
  #status = null;
  #hasEnded = false;
  /** @type {Uint8Array[]|null} The messages that wait for the connection. */
  #waiting = [];
  #isEnding = false;

  /**
   * @param {Endpoint} endpoint
   * @param {Method} method
   * @param {(message: any) => void} onMessage
   * @param {(error: RpcError|null) => void} onEnd Called once, with `null` after an OK status.
   */
  constructor({ url: base = location.href, token, WebSocket: Socket = WebSocket }, method, onMessage, onEnd) {
    this.#method = method;
    this.onMessage = onMessage;
    this.onEnd = onEnd;
    const url = new URL(`/sidelight.v1.${method.name}`, base);
    url.protocol = url.protocol.replace("http", "ws");
    // Pages cannot set headers of a WebSocket.
    this.#socket = new Socket(url, token ? [SUBPROTOCOL, `bearer.${token}`] : SUBPROTOCOL);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onopen = () => this.#flush();
    this.#socket.onmessage = (event) => this.#receive(event.data);
    this.#socket.onclose = (event) => this.#end(this.#errorOf(event.code));
  }

  /** The size of the messages that the browser has not sent yet, in bytes. */
  get bufferedBytes() {
    return this.#socket.bufferedAmount;
  }

  /**
   * Sends a message. Has no effect after the end, of the client's side too.
   *
   * @param {object} message
   */
  send(message) {
    if (this.#isEnding) return;
    const bytes = encode(this.#method.request, message);
    if (this.#waiting) this.#waiting.push(bytes);
    else if (this.#socket.readyState === OPEN) this.#socket.send(bytes);
  }

  /** Ends the client's side. A second call has no effect. */
  halfClose() {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (!this.#waiting && this.#socket.readyState === OPEN) this.#socket.send(END);
  }

  /** Ends the call at once. `onEnd` is not called. */
  cancel() {
    this.#hasEnded = true;
    this.#socket.close();
  }

  #flush() {
    for (const bytes of this.#waiting ?? []) this.#socket.send(bytes);
    this.#waiting = null;
    if (this.#isEnding) this.#socket.send(END);
  }

  /** @param {ArrayBuffer|string} data */
  #receive(data) {
    if (this.#hasEnded) return;
    try {
      if (typeof data === "string") this.#status = parseStatus(data);
      else this.onMessage(decode(this.#method.response, new Uint8Array(data)));
    } catch (error) {
      this.#socket.close();
      this.#end(new RpcError("INTERNAL", `${error}`));
    }
  }

  /** @param {number} closeCode @returns {RpcError|null} */
  #errorOf(closeCode) {
    if (this.#status) return this.#status;
    if (closeCode === NORMAL_CLOSE_CODE) return null;
    if (closeCode > FIRST_CLOSE_CODE) {
      return new RpcError(codeName(closeCode - FIRST_CLOSE_CODE), "");
    }
    return new RpcError("UNAVAILABLE", "The connection to the server was lost.");
  }

  /** @param {RpcError|null} error */
  #end(error) {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.onEnd(error);
  }
}

/** @param {string} json `{"code", "message", "details"}`. @returns {RpcError} */
function parseStatus(json) {
  const { code, message = "", details } = JSON.parse(json);
  const name = typeof code === "number" ? codeName(code) : String(code);
  return new RpcError(name, message, details ? decodeStatus(details) : undefined);
}
