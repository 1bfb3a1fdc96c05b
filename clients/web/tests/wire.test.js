import assert from "node:assert/strict";
import { test } from "node:test";

import { CodecError, decode, encode } from "../sidelight/codec.js";

const bytes = (...values) => new Uint8Array(values);

test("a message that ends too early is refused at every length", () => {
  const message = encode("sidelight.v1.ClientMessage", {
    frame: {
      sequence: 300, captureTimeNs: 2 ** 40, rtpTimestamp: 7, priority: -3,
      image: { format: "JPEG", inline: bytes(1, 2, 3), width: 640 },
      tags: new Map([["a", "b"]]),
    },
  });
  assert.equal(decode("sidelight.v1.ClientMessage", message).frame.priority, -3);
  for (let length = 1; length < message.length; length += 1) {
    assert.throws(() => decode("sidelight.v1.ClientMessage", message.subarray(0, length)),
      CodecError);
  }
});

test("unknown fields of every wire type are skipped", () => {
  const unknown = [
    [0x80, 0x7d, 0x96, 0x01], // A varint with the number 2000.
    [0x81, 0x7d, 1, 2, 3, 4, 5, 6, 7, 8],
    [0x82, 0x7d, 2, 9, 9],
    [0x83, 0x7d, 0x80, 0x7d, 1, 0x84, 0x7d], // A group.
    [0x85, 0x7d, 1, 2, 3, 4],
  ].flat();
  assert.equal(decode("sidelight.v1.Ack", bytes(...unknown, 8, 5)).sequence, 5);
});

test("fields of another wire type than the table's are skipped", () => {
  assert.equal(decode("sidelight.v1.Ack", bytes(0x0d, 1, 2, 3, 4)).sequence, 0);
});

test("invalid bytes are refused", () => {
  const invalid = {
    "a varint of eleven bytes": [8, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
    "the field number 0": [0, 1],
    "an unknown wire type": [0x0e],
    "the end of a group that did not begin": [0x0c],
    "a group that ends as another": [0x0b, 0x14],
    "a group without an end": [0x0b, 8, 1],
    "a block beyond the end": [0x12, 200, 1],
    "a block of 2^63 bytes": [0x12, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1],
  };
  for (const [name, content] of Object.entries(invalid)) {
    assert.throws(() => decode("sidelight.v1.Ack", bytes(...content)), CodecError, name);
  }
  assert.throws(() => decode("sidelight.v1.Asset", bytes(0x0a, 1, 0xff)), /UTF-8/);
});

test("messages that nest deeper than 64 levels are refused", () => {
  // Field 1 of Pipeline is a stage, whose field 6 is a pipeline.
  let message = new Uint8Array(0);
  const wrap = (tag, inner) => {
    const length = inner.length < 128 ? [inner.length]
      : [(inner.length & 127) | 128, inner.length >> 7];
    return bytes(tag, ...length, ...inner);
  };
  for (let level = 0; level < 20; level += 1) message = wrap(0x0a, wrap(0x32, message));
  assert.equal(decode("sidelight.v1.Pipeline", message).stages.length, 1);
  for (let level = 0; level < 20; level += 1) message = wrap(0x0a, wrap(0x32, message));
  assert.throws(() => decode("sidelight.v1.Pipeline", message), /nest deeper/);
});

test("the last member of a oneof wins, and repeated messages are merged", () => {
  const value = decode("sidelight.v1.ParameterValue", bytes(0x30, 1, 0x3a, 1, 0x61));
  assert.deepEqual(value, { text: "a" });
  // `accepted` twice: the request and then the revision.
  const message = decode("sidelight.v1.ServerMessage",
    bytes(0xba, 1, 2, 8, 4, 0xba, 1, 2, 16, 6));
  assert.deepEqual(message.accepted, { requestId: 4, revision: 6 });
});

test("values that do not fit their field are refused by name", () => {
  const invalid = [
    [{ sequence: -1 }, /sidelight\.v1\.Frame\.sequence: -1 is not a uint64/],
    [{ priority: 2 ** 31 }, /Frame\.priority: 2147483648 is not a sint32/],
    [{ sequence: 1.5 }, /sidelight.v1.Frame.sequence/],
    [{ image: { format: "TIFF" } }, /Image\.format: .* has no value TIFF/],
    [{ sequnce: 1 }, /has no field sequnce/],
  ];
  for (const [message, reason] of invalid) {
    assert.throws(() => encode("sidelight.v1.Frame", message), (error) =>
      error instanceof CodecError && reason.test(error.message));
  }
});

test("integers beyond 2^53 keep every bit", () => {
  const sequence = 2n ** 63n + 5n;
  const message = decode("sidelight.v1.Ack", encode("sidelight.v1.Ack", { sequence }));
  assert.equal(message.sequence, sequence);
  const pong = { clientTimeNs: -(2n ** 62n) };
  assert.equal(decode("sidelight.v1.Pong", encode("sidelight.v1.Pong", pong)).clientTimeNs,
    pong.clientTimeNs);
});
