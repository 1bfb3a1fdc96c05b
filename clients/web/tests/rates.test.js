// The rate of encoded video to send, over a simulated link: cases of
// Tests/WireTests/EncoderRateControllerTests.swift; and in a session.
import assert from "node:assert/strict";
import { test } from "node:test";

import { connect } from "../sidelight/index.js";
import { RateController } from "../sidelight/rates.js";
import { TestSocket, install } from "./browser.js";
import { SimulatedStream } from "./simulated-stream.js";

const WIDE = { bitrate: 20_000_000, width: 1280, height: 720, framerate: 30 };
const SMALL = { bitrate: 2_000_000, width: 640, height: 360, framerate: 30 };

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const percentile = (values, share) =>
  values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))];
const rates = (frames) => frames.map(({ target }) => target.bitrate);
/** A link whose rate falls from 10 to 2 Mbit/s at 10 s, and returns at 20 s. */
const fallingLink = () => new SimulatedStream((time) => (time >= 10 && time < 20 ? 2e6 : 10e6));

test("no frame becomes older than 400 ms when the link falls to a fifth", () => {
  const stream = fallingLink();
  const frames = stream.run(new RateController({ ...WIDE, bitrate: 8_000_000 }), 35)
    .filter(({ captured }) => captured > 2);
  assert.ok(Math.max(...frames.map(({ age }) => age)) <= 0.4);
  const settled = frames.filter(({ captured }) => captured >= 12 && captured < 20)
    .map(({ age }) => age);
  assert.ok(settled.length >= 220);
  assert.ok(percentile(settled, 0.95) <= stream.roundTrip + 0.15);
});

test("the bit rate returns to most of the link within 10 s", () => {
  const frames = fallingLink().run(new RateController(WIDE), 40);
  const low = frames.filter(({ captured }) => captured >= 12 && captured < 20);
  assert.ok(mean(rates(low)) >= 0.75 * 2e6);
  const { captured: returned } = frames.find(({ captured, target }) =>
    captured > 20 && target.bitrate >= 8_000_000);
  assert.ok(returned < 30);
  const later = mean(rates(frames.filter(({ captured }) => captured > returned + 2)));
  assert.ok(later > 7e6 && later < 10.5e6);
});

for (const [roundTrip, share] of [[0.05, 0.99], [0.1, 0.95]]) {
  test(`a lost packet in a hundred costs few frames and no bit rate at ${roundTrip} s`, () => {
    const stream = new SimulatedStream(() => 5e6, { roundTrip, loss: 0.01 });
    const frames = stream.run(new RateController(SMALL), 60);
    assert.ok(frames.length >= share * stream.captured);
    assert.ok(mean(rates(frames)) >= 0.9 * 2e6);
  });
}

test("a link slower than the first bit rate is found", () => {
  const stream = new SimulatedStream(() => 0.5e6);
  const frames = stream.run(new RateController(WIDE), 30).filter(({ captured }) => captured > 5);
  assert.ok(percentile(frames.map(({ age }) => age), 0.95) <= stream.roundTrip + 0.25);
  assert.ok(Math.max(...rates(frames)) < 800_000);
});

test("a quiet scene is not evidence that the link carries more", () => {
  const activity = (time) => (time >= 3 && time < 20 ? 0.1 : 1);
  const frames = new SimulatedStream(() => 10e6, { activity }).run(new RateController(WIDE), 22);
  const quiet = new Set(rates(frames.filter(({ captured }) => captured >= 4 && captured < 20)));
  assert.equal(quiet.size, 1);
  assert.ok([...quiet][0] < 10_000_000);
});

test("results that take their own time on the way back do not close the window", () => {
  const stream = new SimulatedStream(() => 10e6, { processing: () => 0.025, jitter: 0.02 });
  const frames = stream.run(new RateController({ ...WIDE, bitrate: 8_000_000 }), 20);
  assert.ok(mean(rates(frames.filter(({ captured }) => captured > 8))) >= 0.95 * 8e6);
});

test("late acknowledgements never widen the window", () => {
  const [onTime, late] = [0, 1 / 60].map((interval) => {
    const controller = new RateController({ ...SMALL, bitrate: 1_000_000, framerate: 60 });
    controller.sent(1, 2083, 0);
    controller.acknowledged(1, 0.03);
    let sequence = 1;
    for (let frame = 0; frame < 100; frame += 1) {
      const now = 0.04 + frame * interval;
      if (controller.maySend(now)) controller.sent(sequence += 1, 2083, now);
    }
    return sequence;
  });
  assert.ok(late <= onTime);
});

test("key frames do not lower the bit rate", () => {
  const frames = new SimulatedStream(() => 5e6, { keyFrameInterval: 60 })
    .run(new RateController(SMALL), 30);
  assert.deepEqual(new Set(rates(frames)), new Set([2_000_000]));
});

test("pictures become smaller before they become fewer", () => {
  const target = { ...WIDE, bitrate: 4_000_000 };
  let last = target;
  for (let bitrate = 4_000_000; bitrate >= 4000; bitrate -= 4000) {
    const { current } = new RateController(target, { minBitRate: 1000, startBitRate: bitrate });
    assert.equal(current.bitrate, bitrate);
    assert.ok(current.width <= last.width && current.framerate <= last.framerate);
    assert.ok(current.width % 2 === 0 && current.height % 2 === 0);
    assert.ok(current.framerate === 30 || current.width === 320);
    last = current;
  }
  assert.deepEqual([last.width, last.height, last.framerate], [320, 180, 7.5]);
});

/** Opens a session with a clock of its own. */
async function open(context) {
  install(context);
  const clock = { ms: 1000 };
  context.mock.method(performance, "now", () => clock.ms);
  const opening = connect().session("sepiaTone");
  TestSocket.last.accept({ framesInFlight: 16 });
  const session = await opening;
  const targets = [];
  session.addEventListener("encoderTarget", ({ detail }) => targets.push(detail));
  const send = () => session.send({
    codec: "VP8", chunk: { type: "key", timestamp: clock.ms * 1000, data: new Uint8Array(8300) },
  });
  return { session, targets, clock, send };
}

test("a session tells the encoder less when the link is slow, and takes no more meanwhile", async (
  context) => {
  const { session, targets, clock, send } = await open(context);
  assert.equal(session.encoderTarget, null);
  session.adaptEncoder(SMALL);
  assert.deepEqual(targets, [SMALL]);
  const waiting = [];
  let refused = 0, freeMs = 0;
  for (let picture = 0; picture < 150; picture += 1) {
    clock.ms += 33;
    // A frame takes 13 ms, and after a second 130 ms: 0.5 Mbit/s.
    while (waiting[0]?.arrivalMs <= clock.ms) {
      const { sequence } = waiting.shift();
      TestSocket.last.answer({ frame: { sequence, image: { format: "VP8" } } });
    }
    if (!session.mayEncode) {
      refused += 1;
      continue;
    }
    freeMs = Math.max(freeMs, clock.ms) + (picture < 30 ? 13 : 130);
    waiting.push({ sequence: send(), arrivalMs: freeMs + 10 });
  }
  assert.ok(refused > 30);
  assert.ok(targets.at(-1).bitrate < 0.7 * SMALL.bitrate);
  assert.equal(session.encoderTarget.width, targets.at(-1).width);
});

test("the server's own time is not the link's", async (context) => {
  const { session, targets, clock, send } = await open(context);
  session.adaptEncoder(SMALL);
  for (let picture = 0; picture < 60; picture += 1) {
    const isSlow = picture % 20 >= 10;
    const sequence = send();
    clock.ms += isSlow ? 120 : 20;
    TestSocket.last.answer({
      frame: { sequence, image: { format: "VP8" }, timing: { totalUs: isSlow ? 100_000 : 0 } } });
  }
  assert.deepEqual(targets, [SMALL]);
});

test("wishes that are no rate or size are refused by name", async (context) => {
  const { session } = await open(context);
  for (const [name, value] of [["bitrate", 0], ["width", NaN], ["framerate", undefined]]) {
    assert.throws(() => session.adaptEncoder({ ...SMALL, [name]: value }), (error) =>
      error instanceof RangeError && error.message.includes(`target.${name} is ${value}`));
  }
});
