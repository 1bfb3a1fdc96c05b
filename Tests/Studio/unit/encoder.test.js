// The worker that encodes pictures, with parts of a browser whose coders fail.
import assert from "node:assert/strict";
import { test } from "node:test";

const pictures = [];
const answers = [];
let request;
let failing = "";

/** Fails in the call that the test names. */
function attempt(call) {
  if (failing === call) throw new Error(`${call} failed`);
}

class Canvas {
  getContext() {
    return { setTransform() {}, drawImage() {} };
  }

  async convertToBlob() {
    attempt("convertToBlob");
    return new Blob(["jpeg"]);
  }
}

class Picture {
  isClosed = false;

  constructor(_, { timestamp }) {
    this.timestamp = timestamp;
    pictures.push(this);
  }

  close() {
    this.isClosed = true;
  }
}

class Encoder extends EventTarget {
  state = "unconfigured";
  encodeQueueSize = 0;

  configure() {
    attempt("configure");
    this.state = "configured";
  }

  encode(picture) {
    assert.equal(picture.isClosed, false);
    attempt("encode");
  }

  close() {
    this.state = "closed";
  }
}

Object.assign(globalThis, {
  OffscreenCanvas: Canvas, VideoFrame: Picture, VideoEncoder: Encoder,
  addEventListener: (_, listener) => { request = (data) => listener({ data }); },
  postMessage: (message) => { answers.push(message); },
});
await import("../../../Sources/Studio/Page/picture/encoder.js");

for (const call of ["", "convertToBlob", "configure", "encode"]) {
  test(`a picture is closed, and an error named: ${call || "without an error"}`, async () => {
    pictures.length = 0;
    answers.length = 0;
    failing = call;
    await request({
      id: 7, bitmap: { width: 4, height: 2, close() {} }, width: 4, height: 2, isMirrored: false,
      quality: 0.8, video: { codec: "VP8", capturedMs: 40, isKeyFrame: false },
    });
    assert.deepEqual(pictures.map(({ isClosed }) => isClosed), [true]);
    assert.deepEqual(answers, [
      ...(call ? [{ error: `${call} failed` }] : []), { id: 7, buffer: null }]);
  });
}
