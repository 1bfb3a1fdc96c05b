import assert from "node:assert/strict";
import { test } from "node:test";

import { Hints } from "../../../Sources/Studio/Page/shared/hints.js";
import { ManualTimers } from "../../../clients/web/tests/browser.js";

const WHOLE_FRAME_MS = 3000;

/** Hints that a test shows, with timers that end when it says so. */
function hintsOf(context) {
  const timers = new ManualTimers();
  const { setTimeout, clearTimeout } = globalThis;
  Object.assign(globalThis, { setTimeout: timers.set, clearTimeout: timers.clear });
  context.after(() => Object.assign(globalThis, { setTimeout, clearTimeout }));
  const shown = { hints: [] };
  const hints = new Hints((each) => { shown.hints = each; });
  const take = (filter, words = {}, figures = {}) => hints.take({ filter, words, figures });
  return { hints, take, timers, texts: () => shown.hints.map(({ text }) => text), shown };
}

test("each reason for a hidden frame has its own sentence", (context) => {
  const { take, texts } = hintsOf(context);
  const reasons = [
    "searching", "cameraMoves", "regionsMove", "faceLost", "faceUncertain", "searchFailed",
    "searchLate", "tooManyFaces", "fault", "aReasonOfANewerServer",
  ];
  const sentences = new Set(reasons.map((wholeFrame) => {
    assert.equal(take("faceBlur", { wholeFrame }), true);
    const [sentence, ...others] = texts();
    assert.deepEqual(others, []);
    assert.match(sentence, /^Blurred whole: [a-z]/);
    return sentence;
  }));
  assert.equal(sentences.size, reasons.length);
});

test("a frame that is no longer hidden has no hint", (context) => {
  const { take, texts, shown } = hintsOf(context);
  take("faceBlur", { wholeFrame: "cameraMoves" }, { wholeFrameSeconds: 4.2 });
  assert.deepEqual(shown.hints, [{ text: "Blurred whole: the camera moves", seconds: 4.2 }]);
  take("faceBlur", { wholeFrame: "" });
  assert.deepEqual(texts(), []);
});

test("a hint is gone when the server no longer reports it", (context) => {
  const { take, timers, texts } = hintsOf(context);
  take("faceBlur", { wholeFrame: "searching" });
  timers.pass(WHOLE_FRAME_MS - 1);
  take("faceBlur", { wholeFrame: "searching" }, { wholeFrameSeconds: 3 });
  timers.pass(WHOLE_FRAME_MS - 1);
  assert.equal(texts().length, 1);
  timers.pass(1);
  assert.deepEqual(texts(), []);
});

test("the progress of a plate is shown until the plate is known", (context) => {
  const { take, timers, texts, shown } = hintsOf(context);
  take("virtualBackground", {}, { plateProgress: 0.4 });
  assert.equal(shown.hints[0].progress, 0.4);
  assert.match(texts()[0], /40 %/);
  timers.pass(1e6);
  assert.equal(texts().length, 1);
  take("virtualBackground", {}, { plateProgress: 1, plateReady: 1 });
  assert.deepEqual(texts(), []);
});

test("a failed matte is shown until it works again", (context) => {
  const { take, texts } = hintsOf(context);
  take("backgroundBlur", { matteError: "the model is broken" });
  assert.match(texts()[0], /the model is broken$/);
  take("backgroundBlur", { matteError: "" });
  assert.deepEqual(texts(), []);
});

test("the hints of filters that are not selected are forgotten", (context) => {
  const { hints, take, timers, texts } = hintsOf(context);
  take("faceBlur", { wholeFrame: "searching" });
  take("virtualBackground", {}, { plateProgress: 0 });
  hints.say("The text is not valid.");
  hints.keep((filter) => filter === "virtualBackground");
  assert.equal(texts().length, 2);
  timers.pass(1e6);
  assert.equal(texts().length, 1);
});

test("a sentence of the page is shown for a while", (context) => {
  const { hints, timers, texts } = hintsOf(context);
  hints.say("one");
  timers.pass(5000);
  hints.say("two");
  timers.pass(5000);
  assert.deepEqual(texts(), ["two"]);
  hints.say("");
  assert.deepEqual(texts(), []);
  hints.say("three");
  timers.pass(1e6);
  assert.deepEqual(texts(), []);
});

test("other analyses are no hints", (context) => {
  const { take, texts } = hintsOf(context);
  assert.equal(take("faceDetection", { searchError: "none" }, { faces: 2 }), false);
  assert.deepEqual(texts(), []);
});
