import assert from "node:assert/strict";
import { test } from "node:test";

import { RpcError, connect } from "../sidelight/index.js";
import { TestSocket, install } from "./browser.js";

const INVALID_ARGUMENT = 3;
const JPEG = new Uint8Array([1, 2, 3]);

/** Opens a session whose server accepts two frames at a time. */
async function open(context, options) {
  install(context);
  const opening = connect(undefined, options).session("sepiaTone", { label: "test" });
  TestSocket.last.accept();
  return opening;
}

const sent = () => TestSocket.last.received.flatMap(({ frame }) => frame?.sequence ?? []);
const answer = (message) => TestSocket.last.answer(message);
const filtered = (sequence) => answer({ frame: { sequence, image: { inline: JPEG } } });

test("a session opens with a pipeline, at the server's address, with the caller's token", async (
  context) => {
  install(context);
  const server = connect("https://video.example.com/page", { token: "secret" });
  const opening = server.session("sepiaTone", { label: "test" });
  const socket = TestSocket.last;
  assert.equal(socket.url.href, "wss://video.example.com/sidelight.v1.FrameFilter/Process");
  assert.deepEqual(socket.protocols, ["sidelight.v1", "bearer.secret"]);
  socket.accept();
  assert.equal((await opening).opened.framesInFlight, 2);
  assert.equal(socket.received[0].open.pipelineText, "sepiaTone");
  assert.equal(socket.received[0].open.label, "test");
});

test("a session that the server refuses throws its error", async (context) => {
  install(context);
  const opening = connect().session("nothing");
  TestSocket.last.readyState = TestSocket.OPEN;
  TestSocket.last.onopen();
  TestSocket.last.end(INVALID_ARGUMENT, "no such filter");
  await assert.rejects(opening, (error) =>
    error instanceof RpcError && error.code === "INVALID_ARGUMENT"
    && error.message === "no such filter");
});

test("without credit the newest frame waits, and replaces an older one", async (context) => {
  const session = await open(context);
  const outcomes = session.outcomes();
  for (let count = 0; count < 5; count += 1) session.send({ jpeg: JPEG });
  assert.deepEqual(sent(), [1, 2]);
  const { value: dropped } = await outcomes.next();
  assert.equal(dropped.reason, "SUPERSEDED");
  assert.deepEqual([dropped.firstSequence, dropped.lastSequence, dropped.count], [3, 4, 2]);
  const next = outcomes.next();
  filtered(1);
  assert.equal((await next).value.sequence, 1);
  assert.deepEqual(sent(), [1, 2, 5]);
});

test("unread outcomes keep further frames from being sent", async (context) => {
  const session = await open(context);
  const outcomes = session.outcomes();
  session.send({ jpeg: JPEG });
  session.send({ jpeg: JPEG });
  filtered(1);
  answer({ dropped: { firstSequence: 2, lastSequence: 2, count: 1, reason: "QUEUE_FULL",
    stage: "MAILBOX" } });
  session.send({ jpeg: JPEG });
  assert.deepEqual(sent(), [1, 2]);
  await outcomes.next();
  assert.deepEqual(sent(), [1, 2, 3]);
});

test("a loop that ends early lets frames flow again", async (context) => {
  const session = await open(context);
  const outcomes = session.outcomes();
  session.send({ jpeg: JPEG });
  session.send({ jpeg: JPEG });
  assert.throws(() => session.outcomes(), /another loop/);
  filtered(1);
  filtered(2);
  for await (const outcome of outcomes) {
    assert.equal(outcome.sequence, 1);
    session.send({ jpeg: JPEG });
    session.send({ jpeg: JPEG });
    assert.deepEqual(sent(), [1, 2, 3]);
    break;
  }
  assert.deepEqual(sent(), [1, 2, 3, 4]);
  const again = session.outcomes().next();
  filtered(3);
  assert.equal((await again).value.sequence, 3);
});

test("outcomes end with the session, or throw its error", async (context) => {
  for (const [code, expected] of [[0, null], [8, "RESOURCE_EXHAUSTED"]]) {
    const session = await open(context);
    const outcomes = session.outcomes();
    session.send({ jpeg: JPEG });
    filtered(1);
    if (code) TestSocket.last.end(code);
    else TestSocket.last.onclose({ code: 1000 });
    assert.equal((await outcomes.next()).value.sequence, 1);
    if (expected) await assert.rejects(outcomes.next(), { code: expected });
    assert.deepEqual(await outcomes.next(), { value: undefined, done: true });
    assert.equal((await session.outcomes().next().catch(({ code: name }) => name)).done ?? expected,
      expected ?? true);
  }
});

test("changes are promises of the server's answers", async (context) => {
  const session = await open(context);
  const selected = session.select("tone: sepiaTone");
  const updated = session.update({ tone: { intensity: 0.5, flag: true, list: [1, 2] } });
  const activated = session.activate("tone", false);
  const [, { select }, { update }, { activate }] = TestSocket.last.received;
  assert.equal(select.pipelineText, "tone: sepiaTone");
  const { stage, parameters } = update.stages[0];
  assert.equal(stage, "tone");
  assert.deepEqual(Object.fromEntries(parameters),
    { intensity: { number: 0.5 }, flag: { flag: true }, list: { vector: { values: [1, 2] } } });
  assert.deepEqual(activate.stages, new Map([["tone", false]]));
  answer({ accepted: { requestId: 1, revision: 2 } });
  answer({ error: { requestId: 2, status: { code: INVALID_ARGUMENT, message: "too large" } } });
  assert.equal((await selected).revision, 2);
  await assert.rejects(updated, { code: "INVALID_ARGUMENT", message: "too large" });
  session.close();
  await assert.rejects(activated, { code: "CANCELLED" });
  await assert.rejects(session.select("noir"), { code: "CANCELLED" });
});

test("a frame that waits is sent before the client's side ends", async (context) => {
  const session = await open(context);
  for (let count = 0; count < 3; count += 1) session.send({ jpeg: JPEG });
  session.finish();
  session.send({ jpeg: JPEG });
  assert.notEqual(TestSocket.last.received.at(-1), "end");
  filtered(1);
  assert.deepEqual(sent(), [1, 2, 3]);
  filtered(2);
  assert.deepEqual(TestSocket.last.received.filter((message) => message === "end"), ["end"]);
  assert.equal(TestSocket.last.received.at(-1), "end");
  TestSocket.last.onclose({ code: 1000 });
  session.send({ jpeg: JPEG });
  assert.deepEqual(sent(), [1, 2, 3]);
});

test("pausing, resuming and finishing are messages", async (context) => {
  const session = await open(context);
  session.pause({ passThrough: true });
  session.resume();
  session.finish();
  const [, first, second, last] = TestSocket.last.received;
  assert.equal(first.pause.passThrough, true);
  assert.ok(second.resume);
  assert.equal(last, "end");
});
