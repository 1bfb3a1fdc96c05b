import assert from "node:assert/strict";
import { test } from "node:test";

import { Catalogue } from "../../../Sources/Studio/Page/pipeline/catalogue.js";
import { encode } from "../../../clients/web/sidelight/codec.js";
import { isFound } from "../../../Sources/Studio/Page/shared/search.js";
import { words } from "../../../Sources/Studio/Page/shared/words.js";
import { install } from "../../../clients/web/tests/browser.js";

const FILTERS = [
  ["faceBlur", "blur", "Blurs faces.", "hide privacy"],
  ["facePixellate", "stylize", "Hides faces behind a mosaic.", "censor blur"],
  ["gaussianBlur", "blur", "Blurs by a Gaussian distribution."],
  ["edgePreservingSmooth", "blur", "Smooths surfaces and noise."],
  ["grayscale", "color", "Converts colours to greys of the same luma.", "black white"],
  ["virtualBackground", "compositing", "Replaces the background behind people by an image.",
    "remove room"],
  ["lowLight", "color", "Brightens dark pictures and reduces their noise.",
    "night brighter"],
].map(([name, category, summary, keywords]) => ({ name, category, summary, keywords }));

function found(query) {
  return FILTERS.filter((filter) => isFound(filter, query)).map(({ name }) => name);
}

test("filters are found by their purpose", () => {
  assert.deepEqual(found("blur face"), ["faceBlur", "facePixellate"]);
  assert.deepEqual(found("hide my face"), ["faceBlur", "facePixellate"]);
  assert.deepEqual(found("blurring faces"), ["faceBlur", "facePixellate"]);
  assert.deepEqual(found("remove the background"), ["virtualBackground"]);
  assert.deepEqual(found("black and white"), ["grayscale"]);
  assert.deepEqual(found("grey"), ["grayscale"]);
  assert.deepEqual(found("make it brighter at night"), ["lowLight"]);
});

test("filters are found by name and category", () => {
  assert.deepEqual(found("gaussianblur"), ["gaussianBlur"]);
  assert.deepEqual(found("Gaussian blur"), ["gaussianBlur"]);
  assert.deepEqual(found("stylize"), ["facePixellate"]);
  assert.equal(found("").length, FILTERS.length);
  assert.deepEqual(found("no such filter"), []);
});

test("names are words with acronyms and sizes", () => {
  assert.equal(words("convolutionRGB3X3"), "Convolution RGB 3×3");
  assert.equal(words("convolution5X5"), "Convolution 5×5");
  assert.equal(words("gaussianBlur"), "Gaussian blur");
  assert.equal(words("own-picture"), "Own picture");
});

/** A WebSocket whose server lists one filter, and says why it cannot run others. */
class AnsweringSocket {
  static OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;

  constructor(url) {
    this.isList = url.href.endsWith("ListFilters");
    queueMicrotask(() => this.onopen());
  }

  send(data) {
    if (data !== "end") return;
    if (this.isList) {
      this.onmessage({ data: encode("sidelight.v1.ListFiltersResponse", {
        filters: [{ name: "faceDetection", category: "analysis" }] }) });
      return this.onclose({ code: 1000 });
    }
    this.onmessage({ data: JSON.stringify(AnsweringSocket.status) });
    this.onclose({ code: 4000 + AnsweringSocket.status.code });
  }

  close() {}
}

test("filters that the server cannot run have the server's reason", async (context) => {
  install(context);
  globalThis.WebSocket = AnsweringSocket;
  AnsweringSocket.status = {
    code: 9, message: 'text: line 1, column 1: the filter "x" is not available: no Vision\nx\n^' };
  const { missing } = await Catalogue.load();
  assert.deepEqual(missing.map(({ name }) => name),
    ["aztecCodeGenerator", "barcode", "code128BarcodeGenerator", "faceBlur", "facePixellate",
      "pDF417BarcodeGenerator", "qRCodeGenerator", "text", "timecode"]);
  assert.equal(missing[3].summary, "no Vision");
});

test("filters that the caller may not use are not listed", async (context) => {
  install(context);
  globalThis.WebSocket = AnsweringSocket;
  AnsweringSocket.status = { code: 7, message: "not permitted" };
  assert.deepEqual((await Catalogue.load()).missing, []);
});

test("a filter is added with its first example that names no asset", () => {
  const example = (...given) => ({ stages: [{ filter: { name: "key", parameters: new Map(given) } }] });
  const image = ["image", { text: "a.png" }];
  const low = ["low", { number: 0.2 }];
  const parameters = [{ name: "image", kind: "ASSET" }, { name: "low", kind: "NUMBER" }];
  const added = (...examples) => new Catalogue([{ name: "key", parameters, examples }]).exampleOf("key");
  assert.deepEqual(added(example(image), example(low)), new Map([low]));
  assert.deepEqual(added(example(image, low)), new Map([low]));
  assert.deepEqual(added(), new Map());
});
