import assert from "node:assert/strict";
import { test } from "node:test";

import {
  Connection, FrameDecoder, FrameEncoder, chunkOf, connect, usableCodecs,
} from "../sidelight/index.js";
import { TestSocket, install } from "./browser.js";

const DATA = new Uint8Array([1, 2, 3]);
const chunk = (type, timestamp = 40_000) => ({ type, timestamp, data: DATA });

/** Opens a session whose server accepts two frames at a time. */
async function open(context, opened = {}) {
  install(context);
  const now = { ms: 1000 };
  context.mock.method(performance, "now", () => now.ms);
  const opening = connect().session("sepiaTone");
  TestSocket.last.accept(opened);
  const session = await opening;
  const events = [];
  for (const type of ["dropped", "keyFrameNeeded"]) {
    session.addEventListener(type, ({ detail }) =>
      events.push([type, detail.reason, Number(detail.firstSequence ?? detail.sequence)]));
  }
  const send = (...types) => {
    for (const type of types) session.send({ chunk: chunk(type), codec: "VP8" });
  };
  return { session, events, send, now };
}

const frames = () => TestSocket.last.received.flatMap(({ frame }) => frame ?? []);
const sent = () => frames().map(({ sequence }) => sequence);
const filtered = (sequence) =>
  TestSocket.last.answer({ frame: { sequence, image: { format: "VP8", inline: DATA } } });

test("a chunk is a frame with codec, key frame and capture time", async (context) => {
  const { session } = await open(context);
  const color = { range: "FULL", matrix: "BT709" };
  session.send({ chunk: chunk("key", 33_333), codec: "H264", color, budgetMs: 100 });
  session.send({ chunk: {
    type: "delta", timestamp: 66_667, byteLength: 2,
    copyTo(destination) { destination.set([7, 8].slice(0, this.byteLength)); },
  }, codec: "H264", capturedMs: 70 });
  const [first, second] = frames();
  assert.equal(first.image.format, "H264");
  assert.deepEqual([...first.image.inline], [...DATA]);
  assert.equal(first.image.encoded.keyFrame, true);
  assert.deepEqual(first.image.color, { ...color, alpha: "UNSPECIFIED" });
  assert.deepEqual([first.captureTimeNs, first.budgetUs], [33_333_000, 100_000]);
  assert.deepEqual([...second.image.inline], [7, 8]);
  assert.equal(second.image.encoded.keyFrame, false);
  assert.equal(second.captureTimeNs, 70_000_000);
});

test("a frame without a picture, a codec or data is refused by name", async (context) => {
  const { session } = await open(context);
  for (const [frame, reason] of [
    [{}, /no picture/],
    [{ chunk: chunk("key") }, /codec is undefined; it must be one of VP8, H264, VP9, AV1/],
    [{ chunk: chunk("key"), codec: "HEVC" }, /codec is HEVC/],
    [{ chunk: chunk("keyframe"), codec: "VP8" }, /type is keyframe/],
    [{ chunk: { type: "key", timestamp: 0 }, codec: "VP8" }, /no data/],
  ]) {
    assert.throws(() => session.send(frame), (error) =>
      error instanceof TypeError && reason.test(error.message));
  }
  assert.deepEqual(sent(), []);
});

test("a stream begins with a key frame", async (context) => {
  const { events, send } = await open(context);
  send("delta", "delta", "key", "delta");
  assert.deepEqual(events, [
    ["dropped", "NOT_DECODABLE", 1], ["keyFrameNeeded", "START", 1],
    ["dropped", "NOT_DECODABLE", 2]]);
  assert.deepEqual(sent(), [3, 4]);
});

test("a frame on which others depend is kept, and the stream goes on with a key frame", async (
  context) => {
  const { events, send } = await open(context);
  send("key", "delta", "delta", "delta", "delta");
  assert.deepEqual(sent(), [1, 2]);
  assert.deepEqual(events, [
    ["dropped", "QUEUE_FULL", 4], ["keyFrameNeeded", "LOSS", 4], ["dropped", "NOT_DECODABLE", 5]]);
  filtered(1);
  // The third one waited. The ones after it depend on a dropped one.
  assert.deepEqual(sent(), [1, 2, 3]);
  filtered(2);
  send("delta", "key", "delta");
  assert.deepEqual(sent(), [1, 2, 3, 7]);
  filtered(3);
  assert.deepEqual(sent(), [1, 2, 3, 7, 8]);
});

test("a key frame replaces a frame that waits", async (context) => {
  const { events, send } = await open(context);
  send("key", "delta", "delta", "key", "delta");
  assert.deepEqual(events, [
    ["dropped", "SUPERSEDED", 3], ["dropped", "QUEUE_FULL", 5], ["keyFrameNeeded", "LOSS", 5]]);
  filtered(1);
  assert.deepEqual(sent(), [1, 2, 4]);
});

test("a key frame is requested at most every half second", async (context) => {
  const { events, send, now } = await open(context);
  const requests = () => events.filter(([type]) => type === "keyFrameNeeded").length;
  send("delta");
  now.ms += 499;
  send("delta");
  assert.equal(requests(), 1);
  now.ms += 1;
  send("delta");
  assert.equal(requests(), 2);
});

test("another codec, and a gap between pictures of two kinds, need a key frame", async (
  context) => {
  const { session, events, send, now } = await open(context);
  send("key");
  session.send({ chunk: chunk("delta"), codec: "VP9" });
  assert.deepEqual(events.pop(), ["keyFrameNeeded", "LOSS", 2]);
  send("key");
  // A picture that is dropped in front of the socket leaves a gap in the stream.
  session.send({ jpeg: DATA });
  session.send({ jpeg: DATA });
  filtered(1);
  filtered(3);
  now.ms += 1000;
  send("delta");
  assert.deepEqual(events.slice(-3), [
    ["dropped", "SUPERSEDED", 4], ["dropped", "NOT_DECODABLE", 6], ["keyFrameNeeded", "LOSS", 6]]);
});

test("outcomes with different reasons are not joined", async (context) => {
  const { session, send } = await open(context);
  const outcomes = session.outcomes();
  send("key", "delta", "delta", "delta", "delta", "delta");
  const reasons = [];
  for (let count = 0; count < 2; count += 1) {
    const { value } = await outcomes.next();
    reasons.push([value.reason, value.firstSequence, value.lastSequence]);
  }
  assert.deepEqual(reasons, [["QUEUE_FULL", 4, 4], ["NOT_DECODABLE", 5, 6]]);
});

test("the encoder's settings and key frames are requested from the server", async (context) => {
  const { session } = await open(context);
  const changed = session.setEncoder({ bitRate: 500_000, frameRate: 15 });
  session.requestKeyFrame();
  const [, { setEncoder }, { requestKeyFrame }] = TestSocket.last.received;
  assert.deepEqual(setEncoder, {
    bitRate: 500_000, frameRate: 15, width: 0, height: 0, output: "", requestId: 1 });
  assert.ok(requestKeyFrame);
  TestSocket.last.answer({ accepted: { requestId: 1, revision: 1 } });
  assert.equal((await changed).revision, 1);
});

test("results are acknowledged when their loop reads them, or else when they arrive", async (
  context) => {
  const { session, send } = await open(context, { outputWindow: 64 });
  const acknowledged = () => TestSocket.last.received.flatMap(({ ack }) => ack?.sequence ?? []);
  send("key", "delta");
  filtered(1);
  assert.deepEqual(acknowledged(), [1]);
  const outcomes = session.outcomes();
  filtered(2);
  assert.deepEqual(acknowledged(), [1]);
  assert.equal((await outcomes.next()).value.sequence, 2);
  assert.deepEqual(acknowledged(), [1, 2]);
  const next = outcomes.next();
  send("delta", "delta");
  filtered(3);
  assert.equal((await next).value.sequence, 3);
  assert.deepEqual(acknowledged(), [1, 2, 3]);
  filtered(4);
  await outcomes.return();
  assert.deepEqual(acknowledged(), [1, 2, 3, 4]);
  send("delta");
  session.finish();
  filtered(5);
  // The client's side has ended.
  assert.deepEqual(acknowledged(), [1, 2, 3, 4]);
});

test("results are not acknowledged without a window", async (context) => {
  const { send } = await open(context);
  send("key");
  filtered(1);
  assert.ok(TestSocket.last.received.every(({ ack }) => !ack));
});

test("sessions whose results may be encoded have a window", (context) => {
  install(context);
  for (const [options, window] of [
    [{}, 64], [{ output: { format: "VP8" } }, 64], [{ output: { width: 320 } }, 64],
    [{ outputWindow: 3 }, 3], [{ outputWindow: 0 }, 0], [{ output: { format: "JPEG" } }, 0],
    [{ dropPolicy: "NEVER_DROP" }, 0], [{ analysisOnly: true }, 0],
    [{ outputs: [{ name: "small" }] }, 0],
  ]) {
    connect().open(options);
    TestSocket.last.readyState = TestSocket.OPEN;
    TestSocket.last.onopen();
    assert.equal(TestSocket.last.received[0].open.outputWindow, window, JSON.stringify(options));
  }
});

test("a connection passes the request for a key frame on", async (context) => {
  install(context);
  const connection = new Connection(connect(), {}, () => "sepiaTone");
  connection.open();
  TestSocket.last.accept();
  context.after(() => connection.close());
  const requested = new Promise((resolve) =>
    connection.addEventListener("keyFrameNeeded", ({ detail }) => resolve(detail)));
  TestSocket.last.answer({ keyFrameNeeded: { sequence: 9, reason: "LOSS" } });
  assert.deepEqual(await requested, { sequence: 9, reason: "LOSS" });
});

/** The encoder of WebCodecs, whose frames and errors come when the test says so. */
class TestEncoder extends EventTarget {
  static all = [];
  state = "unconfigured";
  encodeQueueSize = 0;
  keyFrames = [];

  constructor({ output, error }) {
    super();
    Object.assign(this, { output, error });
    TestEncoder.all.push(this);
  }

  configure(config) {
    this.config = config;
    this.state = "configured";
  }

  encode(picture, { keyFrame }) {
    this.encodeQueueSize += 1;
    this.keyFrames.push(keyFrame);
  }

  close() {
    this.state = "closed";
  }

  /** Takes the pictures, and returns one. */
  dequeue(type, colorSpace) {
    this.encodeQueueSize = 0;
    this.dispatchEvent(new Event("dequeue"));
    this.output({ ...chunk(type), data: undefined, byteLength: 3,
      copyTo: (destination) => destination.set(DATA) },
    colorSpace && { decoderConfig: { colorSpace } });
  }

  static get last() {
    return TestEncoder.all.at(-1);
  }
}

function encoderOf(context) {
  TestEncoder.all = [];
  globalThis.VideoEncoder = TestEncoder;
  context.after(() => { delete globalThis.VideoEncoder; });
  const frames = [], errors = [];
  const encoder = new FrameEncoder((frame) => frames.push(frame),
    ({ message }) => errors.push(message));
  encoder.configure("H264", { width: 640, height: 360, bitrate: 600_000 });
  return { encoder, frames, errors };
}

test("encoded frames state the colours that the browser chose", async (context) => {
  const { encoder, frames } = encoderOf(context);
  const { codec, avc, ...config } = TestEncoder.last.config;
  assert.match(codec, /^avc1/);
  assert.deepEqual(avc, { format: "annexb" });
  assert.deepEqual(config,
    { width: 640, height: 360, bitrate: 600_000, latencyMode: "realtime" });
  const taken = encoder.encode({});
  TestEncoder.last.dequeue("key", { matrix: "bt709", fullRange: true });
  await taken;
  const next = encoder.encode({});
  TestEncoder.last.dequeue("delta");
  await next;
  const color = { range: "FULL", matrix: "BT709" };
  assert.deepEqual(frames, ["key", "delta"].map((type) =>
    ({ chunk: { type, timestamp: 40_000, data: DATA }, codec: "H264", color })));
  encoder.configure("VP8", { width: 640, height: 360 });
  encoder.encode({});
  TestEncoder.last.dequeue("key", { matrix: "smpte170m", fullRange: false });
  assert.deepEqual(frames[2].color, { range: "VIDEO", matrix: "BT601" });
});

test("frames are key frames at the beginning, on request, and after a change of size", (context) => {
  const { encoder } = encoderOf(context);
  encoder.configure("H264", { width: 640, height: 360, bitrate: 500_000 });
  assert.equal(TestEncoder.last.config.bitrate, 500_000);
  for (const action of [() => {}, () => encoder.requestKeyFrame(), () => {}]) {
    encoder.encode({});
    action();
  }
  assert.deepEqual(TestEncoder.last.keyFrames, [true, false, true]);
  encoder.configure("VP8", { width: 320, height: 180 });
  encoder.encode({});
  assert.deepEqual(TestEncoder.all.map(({ state }) => state), ["closed", "configured"]);
  assert.deepEqual(TestEncoder.last.keyFrames, [true]);
});

test("an encoder that fails takes no pictures until it is configured", async (context) => {
  const { encoder, errors } = encoderOf(context);
  const waiting = encoder.encode({});
  TestEncoder.last.error(new Error("no memory"));
  await assert.rejects(waiting, /no memory/);
  await encoder.encode({});
  assert.deepEqual(errors, ["no memory"]);
  assert.equal(TestEncoder.last.keyFrames.length, 1);
  encoder.configure("VP8", { width: 320, height: 180 });
  TestEncoder.last.encode = () => { throw new TypeError("the picture is closed"); };
  await assert.rejects(encoder.encode({}), /the picture is closed/);
  assert.deepEqual(errors, ["no memory", "the picture is closed"]);
});

test("all calls that wait for an encoder end with its queue, its error and its end", async (
  context) => {
  const { encoder } = encoderOf(context);
  const wait = () => [encoder.encode({}), encoder.encode({})];
  const taken = wait();
  TestEncoder.last.dequeue("key");
  await Promise.all(taken);
  const failed = wait();
  TestEncoder.last.error(new Error("no memory"));
  for (const each of failed) await assert.rejects(each, /no memory/);
  encoder.configure("VP8", { width: 320, height: 180 });
  const closed = wait();
  encoder.close();
  await Promise.all(closed);
});

test("pictures are left out while an encoder has eight", async (context) => {
  const { encoder } = encoderOf(context);
  const waiting = Array.from({ length: 20 }, () => encoder.encode({}));
  assert.equal(TestEncoder.last.keyFrames.length, 8);
  TestEncoder.last.dequeue("key");
  await Promise.all(waiting);
  encoder.encode({});
  assert.equal(TestEncoder.last.keyFrames.length, 9);
});

/** The decoder of WebCodecs, whose pictures and errors come when the test says so. */
class TestDecoder {
  static all = [];
  state = "unconfigured";
  decodeQueueSize = 0;
  chunks = [];

  constructor({ output, error }) {
    Object.assign(this, { output, error });
    TestDecoder.all.push(this);
  }

  configure(config) {
    this.config = config;
    this.state = "configured";
  }

  decode(chunk) {
    this.chunks.push(chunk);
  }

  close() {
    this.state = "closed";
  }

  show(timestamp) {
    const picture = { timestamp, isClosed: false, close() { this.isClosed = true; } };
    this.output(picture);
    return picture;
  }

  fail() {
    this.state = "closed";
    this.error(new Error("the data is damaged"));
  }

  static get last() {
    return TestDecoder.all.at(-1);
  }
}

function decoderOf(context) {
  TestDecoder.all = [];
  const globals = { VideoDecoder: TestDecoder, EncodedVideoChunk: class {
    constructor(init) { Object.assign(this, init); }
  } };
  Object.assign(globalThis, globals);
  context.after(() => {
    for (const name of Object.keys(globals)) delete globalThis[name];
  });
  const shown = [], losses = [];
  const decoder = new FrameDecoder(
    (picture, frame) => shown.push([picture.timestamp, frame.sequence]),
    ({ message }) => losses.push(message));
  let sequence = 0;
  const decode = (keyFrame, format = "VP8", color = undefined) => decoder.decode({
    sequence: (sequence += 1), captureTimeNs: sequence * 1e6,
    image: { format, inline: DATA, color, encoded: { keyFrame } },
  });
  return { decoder, decode, shown, losses };
}

test("results are decoded in order, each with its frame", (context) => {
  const { decode, shown, losses } = decoderOf(context);
  assert.equal(decode(true), true);
  decode(false);
  decode(false);
  assert.equal(TestDecoder.last.config.codec, "vp8");
  assert.deepEqual(TestDecoder.last.chunks.map(({ type }) => type), ["key", "delta", "delta"]);
  TestDecoder.last.show(1000);
  // The decoder leaves out a picture.
  TestDecoder.last.show(3000);
  assert.ok(TestDecoder.last.show(2000).isClosed);
  assert.deepEqual(shown, [[1000, 1], [3000, 3]]);
  assert.deepEqual(losses, []);
});

test("an error of the decoder requests one key frame, which begins again", (context) => {
  const { decode, losses } = decoderOf(context);
  decode(true);
  const failed = TestDecoder.last;
  failed.fail();
  decode(false);
  decode(false);
  assert.deepEqual(losses, ["the data is damaged"]);
  assert.equal(TestDecoder.last, failed);
  decode(true);
  decode(false);
  assert.notEqual(TestDecoder.last, failed);
  assert.equal(TestDecoder.last.chunks.length, 2);
  assert.deepEqual(losses, ["the data is damaged"]);
});

test("a slow decoder skips frames up to a key frame, which it requests when it has room", (
  context) => {
  const { decode, losses } = decoderOf(context);
  decode(true);
  TestDecoder.last.decodeQueueSize = 8;
  for (const keyFrame of [false, true, false]) assert.equal(decode(keyFrame), true);
  assert.equal(TestDecoder.last.chunks.length, 1);
  assert.deepEqual(losses, []);
  TestDecoder.last.decodeQueueSize = 7;
  decode(false);
  decode(false);
  assert.equal(TestDecoder.last.chunks.length, 1);
  assert.deepEqual(losses, ["the decoder is too slow"]);
  decode(true);
  decode(false);
  assert.deepEqual(TestDecoder.last.chunks.map(({ type }) => type), ["key", "key", "delta"]);
  assert.equal(TestDecoder.all.length, 1);
});

test("other colours begin with another decoder", (context) => {
  const { decode } = decoderOf(context);
  decode(true);
  decode(true, "VP8", { range: "VIDEO", matrix: "BT601" });
  decode(true, "VP8", { range: "FULL", matrix: "BT709" });
  assert.deepEqual(TestDecoder.all.map(({ config: { colorSpace } }) =>
    [colorSpace.matrix, colorSpace.fullRange]), [["smpte170m", false], ["bt709", true]]);
});

test("another codec begins with another decoder at a key frame", (context) => {
  const { decode, losses } = decoderOf(context);
  decode(true);
  decode(true, "H264");
  const [first, second] = TestDecoder.all;
  assert.equal(first.state, "closed");
  assert.match(second.config.codec, /^avc1/);
  decode(false, "VP9");
  assert.equal(losses.length, 1);
  assert.equal(second.state, "closed");
});

test("results in other formats are not decoded", (context) => {
  const { decoder } = decoderOf(context);
  const frame = { sequence: 1, captureTimeNs: 5_000_400, image: { format: "JPEG", inline: DATA } };
  assert.equal(decoder.decode(frame), false);
  assert.equal(chunkOf(frame), null);
  assert.equal(chunkOf({ ...frame, image: undefined }), null);
  const image = { format: "VP9", inline: DATA, encoded: { keyFrame: true } };
  assert.deepEqual(chunkOf({ ...frame, image }), { type: "key", timestamp: 5000, data: DATA });
});

test("a codec is usable if server and browser encode and decode it", async (context) => {
  const codecs = ["H264", "VP8", "VP9", "AV1"].map((format) =>
    ({ format, decodes: true, encodes: ["H264", "VP8"].includes(format) }));
  const size = { width: 640, height: 360 };
  assert.deepEqual(await usableCodecs(codecs, size), []);
  const supported = new Set(["vp8", "avc1.42E028"]);
  const coder = {
    isConfigSupported: async (config) => ({ supported: supported.has(config.codec) }),
  };
  Object.assign(globalThis, { VideoEncoder: coder, VideoDecoder: coder });
  context.after(() => {
    delete globalThis.VideoEncoder;
    delete globalThis.VideoDecoder;
  });
  assert.deepEqual(await usableCodecs(codecs, size), ["VP8", "H264"]);
  supported.delete("vp8");
  assert.deepEqual(await usableCodecs(codecs, size), ["H264"]);
  assert.deepEqual(await usableCodecs([], size), []);
});
