/** Spans of the page, by the W3C trace context. */

/** @param {number} bytes */
const randomHex = (bytes) =>
  [...crypto.getRandomValues(new Uint8Array(bytes))]
    .map((byte) => byte.toString(16).padStart(2, "0")).join("");

/** A span of the page: the root of a trace that goes on in the call server and in Sidelight. */
export class Span {
  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.start = performance.timeOrigin + performance.now();
    /** The value of the header `traceparent` for children of this span. */
    this.traceparent = `00-${randomHex(16)}-${randomHex(8)}-01`;
  }

  /** Ends the span, and returns it as the command `span`. */
  end() {
    const { traceparent, name, start } = this;
    return { command: "span", traceparent, name, start,
      end: performance.timeOrigin + performance.now() };
  }
}
