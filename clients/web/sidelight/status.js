/**
 * The errors of calls: code, message, and the details that `google.rpc` defines.
 *
 * @typedef {import("./Generated/message-types.js").Status} Status
 */

import { Reader } from "./wire.js";
import { decode } from "./codec.js";

/** The names of gRPC's status codes, by number. */
const CODES = [
  "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
  "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
  "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
];

/** The reason why a call ended, or why a message was refused. */
export class RpcError extends Error {
  /**
   * @param {string} code The name of the status code.
   * @param {string} message
   * @param {Status} [status] The status with details.
   */
  constructor(code, message, status) {
    super(message || code);
    this.code = code;
    const details = status ? readDetails(status)
      : { reason: "", metadata: new Map(), field: "" };
    /** The reason of the error, such as `SESSION_CLOSED`; empty if it has none. */
    this.reason = details.reason;
    /** The field that is invalid; empty if the error does not name one. */
    this.field = details.field;
    /** The nearest valid name; empty if there is none. */
    this.suggestion = details.metadata.get("suggestion") ?? "";
    /** The position in the pipeline's text, counted in characters from 1; 0 if there is none. */
    this.line = Number(details.metadata.get("line") ?? 0);
    this.column = Number(details.metadata.get("column") ?? 0);
  }

  /**
   * The first line of the message, without the position in a text or the path of the field.
   */
  get sentence() {
    const [line] = this.message.split("\n");
    const path = `${this.field}: `;
    const sentence = line.replace(/^.*?column \d+: /, "");
    return this.field && sentence.startsWith(path) ? sentence.slice(path.length) : sentence;
  }

  /** @param {Status} status */
  static of(status) {
    return new RpcError(codeName(status.code), status.message, status);
  }
}

/** @param {number} number @returns {string} */
export function codeName(number) {
  return CODES[number] ?? `code ${number}`;
}

/** @param {string} base64 @returns {Status} */
export function decodeStatus(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return decode("google.rpc.Status", bytes);
}

/**
 * Reads `google.rpc.ErrorInfo` (field 1: reason, 3: metadata) and `google.rpc.BadRequest` (field 1: violations
 * with the field's path in field 1). Other details are ignored.
 *
 * @param {Status} status
 */
function readDetails(status) {
  /** @type {Map<string, string>} */
  const metadata = new Map();
  let reason = "", field = "";
  for (const { typeUrl, value } of status.details) {
    if (typeUrl.endsWith("/google.rpc.ErrorInfo")) {
      reason = firstText(value, 1);
      for (const entry of blocks(value, 3)) {
        metadata.set(firstText(entry, 1), firstText(entry, 2));
      }
    } else if (typeUrl.endsWith("/google.rpc.BadRequest")) {
      const [violation] = blocks(value, 1);
      if (violation) field = firstText(violation, 1);
    }
  }
  return { reason, metadata, field };
}

/** @param {Uint8Array} bytes @param {number} wanted The number of a field. */
function blocks(bytes, wanted) {
  const reader = new Reader(bytes);
  const found = [];
  while (!reader.isAtEnd) {
    const [number, wire] = reader.tag();
    if (number === wanted && wire === 2) found.push(reader.block());
    else reader.skip(wire, number);
  }
  return found;
}

/** @param {Uint8Array} bytes @param {number} wanted */
function firstText(bytes, wanted) {
  const [block] = blocks(bytes, wanted);
  return block ? new TextDecoder().decode(block) : "";
}
