// The client against `sidelight studio`, if the command is built.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { RpcError, chunkOf, connect, nextEvent } from "../sidelight/index.js";
import "./custom-event.js";
import { socketClass } from "./node-socket.js";

const file = (path) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));
const COMMAND = process.env.SIDELIGHT_BINARY ?? file(".build/release/sidelight");
const JPEG = new Uint8Array(readFileSync(file("Sources/Studio/Page/media/portrait.jpg")));
/** A key frame of VP8 of one pixel, the content of a WebP file, and the head of another frame. */
const KEY_FRAME = new Uint8Array(
  Buffer.from("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", "base64")).subarray(20);
const DELTA_FRAME = new Uint8Array([0x11, 1, 0, ...new Array(16).fill(0)]);
const skip = !existsSync(COMMAND) && "sidelight is not built";

/** Starts a studio for a test, and returns it as a server. */
async function startServer(context) {
  // On a busy machine frames and handshakes take long.
  const program = spawn(COMMAND,
    ["studio", "--port", "0", "--max-load", "0", "--guards-preface-timeout", "60s"],
    { stdio: ["ignore", "pipe", "ignore"] });
  const exited = new Promise((resolve) => program.once("exit", resolve));
  context.after(async () => {
    program.kill();
    await exited;
  });
  for await (const line of createInterface({ input: program.stdout })) {
    const [, address] = /studio on (\S+)/.exec(line) ?? [];
    if (!address) continue;
    const { headers } = await fetch(address, { redirect: "manual" });
    const { origin } = new URL(address);
    const [cookie] = headers.get("set-cookie").split(";");
    return connect(origin, { WebSocket: socketClass({ Cookie: cookie, Origin: origin }) });
  }
  throw new Error("the studio printed no address");
}

test("a server receives acknowledgements of encoded results", { skip, timeout: 120_000 }, async (context) => {
  const server = await startServer(context);
  const { codecs } = await server.info();
  if (!codecs.some(({ format, encodes }) => format === "VP8" && encodes)) {
    return context.skip("the server has no VP8 encoder");
  }
  const session = await server.session("colorInvert", {
    output: { format: "VP8", width: 64, height: 64, fit: "STRETCH" }, outputWindow: 1 });
  const outcomes = session.outcomes();
  // Without them only the first one comes.
  for (let count = 0; count < 5; count += 1) {
    const sequence = session.send({ jpeg: JPEG });
    const { value } = await outcomes.next();
    assert.deepEqual([value.kind, value.sequence, value.image?.format], ["frame", sequence, "VP8"]);
  }
  session.close();
});

test("frames are filtered by a server, and changes take effect", { skip }, async (context) => {
  const server = await startServer(context);
  const session = await server.session("tone: sepiaTone", { dropPolicy: "NEVER_DROP" });
  const outcomes = session.outcomes();
  const filtered = async () => {
    const sequence = session.send({ jpeg: JPEG });
    const { value } = await outcomes.next();
    assert.equal(value.kind, "frame");
    assert.equal(value.sequence, sequence);
    assert.deepEqual([...value.image.inline.subarray(0, 2)], [0xff, 0xd8]);
    return value;
  };
  const first = await filtered();
  assert.equal(first.disposition, "FILTERED");
  const { revision } = await session.update({ tone: { intensity: 0.5 } });
  const second = await filtered();
  assert.equal(second.revision, revision);
  assert.notDeepEqual(second.image.inline, first.image.inline);
  await session.select("noir: photoEffectNoir");
  await session.activate("noir", false);
  await filtered();
  session.pause();
  session.send({ jpeg: JPEG });
  const { value: dropped } = await outcomes.next();
  assert.equal(dropped.reason, "PAUSED");
  session.resume();
  await filtered();
  session.finish();
  assert.deepEqual(await outcomes.next(), { value: undefined, done: true });
});

test("a server's errors have code, field and suggestion", { skip }, async (context) => {
  const server = await startServer(context);
  await assert.rejects(server.session("sepiaTon"), (error) => {
    assert.ok(error instanceof RpcError);
    assert.equal(error.code, "INVALID_ARGUMENT");
    assert.equal(error.suggestion, "sepiaTone");
    return true;
  });
  const session = await server.session("tone: sepiaTone");
  context.after(() => session.close());
  await assert.rejects(session.update({ tone: { intensity: "high" } }), (error) => {
    assert.equal(error.code, "INVALID_ARGUMENT");
    assert.match(error.field, /intensity/);
    return true;
  });
  assert.ok((await server.listFilters()).some(({ name }) => name === "sepiaTone"));
});

test("video is answered with video, and a loss with a request", { skip }, async (context) => {
  const server = await startServer(context);
  const { codecs } = await server.info();
  if (!codecs.some(({ format, encodes }) => format === "VP8" && encodes)) {
    return context.skip("the server was built without VP8");
  }
  const session = await server.session("colorInvert");
  context.after(() => session.close());
  const outcomes = session.outcomes();
  const send = (type, data, sequence) =>
    session.send({ chunk: { type, timestamp: 5000, data }, codec: "VP8", sequence });
  send("key", KEY_FRAME, 1);
  const { value: frame } = await outcomes.next();
  assert.equal(frame.disposition, "FILTERED");
  const { type, timestamp, data } = chunkOf(frame);
  assert.deepEqual([frame.image.format, type, timestamp], ["VP8", "key", 5000]);
  assert.ok(data.length > 0);

  await session.setEncoder({ bitRate: 100_000 });
  await assert.rejects(session.setEncoder({ bitRate: 1 }), (error) =>
    error.code === "INVALID_ARGUMENT" && /bit_rate/.test(error.field));

  const needed = nextEvent(session, ["keyFrameNeeded"]);
  send("delta", DELTA_FRAME, 3);
  assert.equal((await outcomes.next()).value.reason, "NOT_DECODABLE");
  assert.deepEqual((await needed).detail, { sequence: 3, reason: "LOSS" });
  send("key", KEY_FRAME, 4);
  assert.equal((await outcomes.next()).value.kind, "frame");
});
