import assert from "node:assert/strict";
import { test } from "node:test";

import { parameterRow } from "../../../Sources/Studio/Page/shared/controls.js";

/** An element of a page, as far as rows use it. */
class TestElement {
  attributes = {};
  children = [];
  listeners = {};
  classList = { toggle() {} };
  value = "";
  textContent = "";

  constructor(name) { this.name = name; }
  setAttribute(name, value) { this.attributes[name] = value; }
  addEventListener(name, listener) { this.listeners[name] = listener; }
  append(...children) { this.children.push(...children); }

  /** The elements below it with one of the names. */
  all(...names) {
    return this.children.filter((child) => child instanceof TestElement)
      .flatMap((child) => [...names.includes(child.name) ? [child] : [], ...child.all(...names)]);
  }

  querySelectorAll() { return []; }
}

/** The row of a parameter, and the values that it sends. */
function rowOf(context, parameter, current, assets = []) {
  globalThis.document = {
    createElement: (name) => new TestElement(name),
    createElementNS: (_, name) => new TestElement(name),
  };
  context.after(() => { delete globalThis.document; });
  const sent = [];
  const description = { name: "a", summary: "", choices: [], vectorLength: 0, assetKind: "" };
  const row = parameterRow({ ...description, ...parameter }, current, {
    id: "stage-0", assets: () => assets, change: (_, value) => sent.push(value),
  });
  return { row, sent };
}

test("a text is sent as it is typed", (context) => {
  const { row, sent } = rowOf(context, { kind: "TEXT" }, { text: "a" });
  const [input] = row.all("input");
  assert.equal(input.value, "a");
  input.value = "0.5";
  input.listeners.change();
  assert.deepEqual(sent, [{ text: "0.5" }]);
});

for (const kind of ["UNKNOWN", "UNSPECIFIED", 12]) {
  test(`a parameter of the kind ${kind} is shown without a control`, (context) => {
    const { row } = rowOf(context, { kind }, { number: 0.5 });
    assert.deepEqual(row.all("input", "select", "textarea"), []);
    assert.deepEqual(row.all("output").map(({ textContent }) => textContent), ["0.5"]);
  });
}

test("a value of a kind that the page does not know is shown as an empty one", (context) => {
  const { row } = rowOf(context, { kind: 12 }, undefined);
  assert.deepEqual(row.all("output").map(({ textContent }) => textContent), [""]);
});

for (const [assetKind, wanted] of Object.entries({ image: "IMAGE", cube: "CUBE", font: "FONT" })) {
  test(`a parameter offers the uploaded assets of its kind, ${assetKind}`, (context) => {
    const assets = ["IMAGE", "CUBE", "FONT"].map((kind) => ({ name: `of ${kind}`, kind }));
    const { row } = rowOf(context, { kind: "ASSET", assetKind }, undefined, assets);
    assert.deepEqual(
      row.all("option").map(({ attributes }) => attributes.value), ["", `of ${wanted}`]);
  });
}
