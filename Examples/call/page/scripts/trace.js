/** Spans of the page, by the W3C trace context. */

/** @param {number} bytes */
const randomHex = (bytes) =>
  [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** Returns the time in milliseconds since the Unix epoch, with a fraction. */
export function now() {
  return performance.timeOrigin + performance.now();
}

/** A span of the page: the root of a trace that goes on in the call server and in Sidelight. */
export class Span {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.start = now();
    /** The value of the header `traceparent` for children of this span. */
    this.traceparent = `00-${randomHex(16)}-${randomHex(8)}-01`;
  }

  /**
   * Returns the ended span as the command `span`.
   *
   * @param {number} end In milliseconds since the Unix epoch, as of `now`.
   */
  command(end) {
    const { traceparent, name, start } = this;
    return { command: "span", traceparent, name, start, end };
  }
}
