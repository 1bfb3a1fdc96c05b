import assert from "node:assert/strict";
import { test } from "node:test";

import { Connection, connect, encode } from "../sidelight/index.js";
import { TestSocket, install } from "./browser.js";

const INVALID_ARGUMENT = 3, PERMISSION_DENIED = 7, UNAVAILABLE = 14, UNAUTHENTICATED = 16;
const PIPELINE = { stages: [{ filter: { name: "sepiaTone" } }] };
/** The first delay, and the time after which a session is stable. */
const FIRST_MS = 250, STABLE_MS = 5000;

function open() {
  const connection = new Connection(
    connect(), { label: "test" }, () => PIPELINE,
    async () => [401, 403].includes((await fetch("info.json").catch(() => ({}))).status));
  connection.open();
  return connection;
}

/** Returns the next state of a connection, after the action that leads to it. */
async function stateAfter(connection, action) {
  const changed = new Promise((resolve) => {
    connection.addEventListener("connection", (event) => resolve(event.detail.state),
      { once: true });
  });
  action();
  return changed;
}

/** Loses the connection, and returns the delay until the next attempt, which then begins. */
async function lostAndTriedAgain(connection, timers, socket = TestSocket.last) {
  assert.equal(await stateAfter(connection, () => socket.end()), "lost");
  const [delay, ...others] = timers.delaysMs;
  assert.deepEqual(others, []);
  timers.pass(delay);
  assert.notEqual(TestSocket.last, socket);
  return delay;
}

async function delays(connection, timers, count) {
  const found = [];
  for (let index = 0; index < count; index += 1) {
    found.push(await lostAndTriedAgain(connection, timers));
  }
  return found;
}

test("the delay doubles from 250 ms to 4 s", async (context) => {
  const timers = install(context);
  assert.deepEqual(await delays(open(), timers, 7), [250, 500, 1000, 2000, 4000, 4000, 4000]);
  assert.equal(TestSocket.all.length, 8);
});

test("pages that lose their connections together come back at different times", async (context) => {
  const timers = install(context, { random: 0 });
  assert.deepEqual(await delays(open(), timers, 6), [125, 250, 500, 1000, 2000, 2000]);
});

test("the delay is the first one again after a session of five seconds", async (context) => {
  const timers = install(context);
  const connection = open();
  await delays(connection, timers, 3);
  TestSocket.last.accept();
  timers.pass(STABLE_MS);
  assert.equal(await lostAndTriedAgain(connection, timers), FIRST_MS);
});

test("a session that ends at once does not shorten the delay", async (context) => {
  const timers = install(context);
  const connection = open();
  const found = [];
  for (let index = 0; index < 4; index += 1) {
    TestSocket.last.accept();
    timers.pass(STABLE_MS - 1);
    found.push(await lostAndTriedAgain(connection, timers));
  }
  assert.deepEqual(found, [250, 500, 1000, 2000]);
});

test("a session is restored by its newest token or by its pipeline", async (context) => {
  const timers = install(context);
  const connection = open();
  TestSocket.last.accept();
  assert.equal(TestSocket.last.received[0].open.pipeline.stages[0].filter.name, "sepiaTone");
  await lostAndTriedAgain(connection, timers);
  TestSocket.last.accept({ resumeToken: new Uint8Array([1]) });
  TestSocket.last.answer({ applied: { revision: 2, resumeToken: new Uint8Array([2, 2]) } });
  await lostAndTriedAgain(connection, timers);
  TestSocket.last.accept();
  const { open: resumed } = TestSocket.last.received[0];
  assert.deepEqual([...resumed.resumeToken], [2, 2]);
  assert.equal(resumed.pipeline, undefined);
});

test("a refused token is replaced by the pipeline, a refused pipeline ends", async (context) => {
  const timers = install(context);
  const connection = open();
  TestSocket.last.accept({ resumeToken: new Uint8Array([1]) });
  await lostAndTriedAgain(connection, timers);
  const refuse = () => TestSocket.last.end(INVALID_ARGUMENT, "not valid");
  assert.equal(await stateAfter(connection, refuse), "lost");
  timers.pass(timers.delaysMs[0]);
  TestSocket.last.accept();
  assert.equal(TestSocket.last.received[0].open.resumeToken.length, 0);
  assert.equal(await stateAfter(connection, refuse), "refused");
  assert.deepEqual(timers.delaysMs, []);
});

test("a session that an operator closes stays closed", async (context) => {
  const timers = install(context);
  const connection = open();
  TestSocket.last.accept({ resumeToken: new Uint8Array([1]) });
  const text = (value) => new TextEncoder().encode(value);
  const reason = text("SESSION_CLOSED");
  const details = encode("google.rpc.Status", {
    code: PERMISSION_DENIED, message: "An operator has closed the session.",
    details: [{
      typeUrl: "type.googleapis.com/google.rpc.ErrorInfo",
      value: new Uint8Array([10, reason.length, ...reason]),
    }],
  });
  const close = () => TestSocket.last.end(
    PERMISSION_DENIED, "", btoa(String.fromCharCode(...details)));
  assert.equal(await stateAfter(connection, close), "refused");
  assert.deepEqual(timers.delaysMs, []);
});

test("a server that is not available is tried again", async (context) => {
  const timers = install(context, { pageStatus: 200 });
  const connection = open();
  assert.equal(
    await stateAfter(connection, () => TestSocket.last.end(UNAVAILABLE, "stopping")), "lost");
  assert.deepEqual(timers.delaysMs, [FIRST_MS]);
});

test("a page that is not signed in does not try again", async (context) => {
  for (const [pageStatus, code] of [[200, UNAUTHENTICATED], [401, undefined], [403, undefined]]) {
    const timers = install(context, { pageStatus });
    const connection = open();
    assert.equal(
      await stateAfter(connection, () => TestSocket.last.end(code)), "signed-out");
    assert.deepEqual(timers.delaysMs, []);
  }
});

test("a connection that was closed does not come back", async (context) => {
  const timers = install(context);
  const connection = open();
  assert.equal(await stateAfter(connection, () => TestSocket.last.end()), "lost");
  connection.close();
  timers.pass(60_000);
  assert.equal(TestSocket.all.length, 1);

  const other = open();
  TestSocket.last.accept();
  other.close();
  assert.ok(TestSocket.last.isClosed);
  TestSocket.last.end();
  timers.pass(60_000);
  assert.equal(TestSocket.all.length, 2);
});
