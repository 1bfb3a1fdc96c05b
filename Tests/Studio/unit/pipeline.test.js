import assert from "node:assert/strict";
import { test } from "node:test";

import { excerpt, indexOf, replacedAt } from "../../../Sources/Studio/Page/shared/positions.js";
import { grouped } from "../../../Sources/Studio/Page/metrics/passes.js";
import { TimeWindow } from "../../../Sources/Studio/Page/metrics/window.js";
import { quoted, unquoted } from "../../../Sources/Studio/Page/shared/quoting.js";
import { textOf, valueText } from "../../../Sources/Studio/Page/shared/text.js";

const stage = (filter, rest = {}) => ({
  id: "", failurePolicy: "UNSPECIFIED", filter: { name: filter, parameters: new Map() }, ...rest,
});

test("names are quoted unless they are words", () => {
  assert.equal(quoted("gaussianBlur"), "gaussianBlur");
  assert.equal(quoted("a-b.c_1"), "a-b.c_1");
  assert.equal(quoted("1st"), '"1st"');
  assert.equal(quoted('a "b" \\ \n\u0007'), '"a \\"b\\" \\\\ \\n\\u{7}"');
  for (const text of ["gaussianBlur", "1st", 'a "b" \\ \n\u0007', ""]) {
    assert.equal(unquoted(quoted(text)), text);
  }
});

test("texts that look like other values are quoted", () => {
  assert.equal(valueText({ text: "true" }), '"true"');
  assert.equal(valueText({ flag: true }), "true");
  assert.equal(valueText({ text: "" }), '""');
});

test("colours have eight bits per channel only if nothing is lost", () => {
  assert.equal(valueText({ color: { red: 1, green: 128 / 255, blue: 0 } }), "#ff8000");
  assert.equal(valueText({ color: { red: 1, green: 0.5, blue: 0 } }), "color(1, 0.5, 0)");
  assert.equal(valueText({ color: { red: 2, green: 0, blue: 0, alpha: 0.5 } }),
    "color(2, 0, 0, 0.5)");
});

test("stages have their attributes in the server's order", () => {
  const region = {
    origin: { x: { value: 0.1, unit: "WIDTH" } },
    width: { value: 12, unit: "PIXELS" }, height: { value: 1, unit: "SHORT_SIDE" },
  };
  const stages = [stage("grain", { id: "a b", active: false, mix: 0.5, region })];
  assert.equal(textOf({ stages, workingSpace: "SRGB_LINEAR" }),
    '@linear "a b": grain @mix(0.5) @region(0.1w, 0, 12, 1min) @off');
});

test("a column counts characters, not code units", () => {
  const text = "a,\n😀b: sepiaTome";
  const at = indexOf(text, 2, 5);
  assert.equal(text.slice(at), "sepiaTome");
  assert.equal(replacedAt(text, at, "sepiaTone"), "a,\n😀b: sepiaTone");
  const [line, mark] = excerpt(text, 2, 5, 18).split("\n");
  assert.equal([...line][[...mark].indexOf("^")], "s");
});

test("passes are grouped with the stages that they compute", () => {
  const [one, two, off, three] = [
    stage("sepiaTone"), stage("colorInvert"), stage("grain", { active: false }), stage("pixellate"),
  ];
  const pass = (filters) => ({ name: filters[0] ?? "convert", filters, description: "d" });
  const groups = grouped(
    [pass(["sepiaTone", "colorInvert"]), pass(["pixellate"]), pass(["pixellate"])],
    [one, two, off, three]);
  assert.deepEqual(groups.map(({ names }) => names), [["sepiaTone", "colorInvert"], ["pixellate"]]);
  assert.deepEqual(groups.map(({ stages }) => [...stages]), [[one, two], [three]]);
  assert.equal(groups[1].descriptions.length, 2);
});

test("percentiles are those of the nearest rank", () => {
  const values = new TimeWindow(1e12);
  for (let value = 1; value <= 100; value += 1) values.add(value);
  assert.deepEqual(values.percentiles([0.5, 0.95, 1]), [50, 95, 100]);
  assert.ok(Number.isNaN(new TimeWindow(1).percentiles([0.5])[0]));
});

test("a window forgets values that are too old", () => {
  const values = new TimeWindow(1000);
  for (const [at, value] of [[0, 9], [600, 1], [900, 2], [1200, 3]]) values.add(value, at);
  assert.deepEqual(values.entries(1200).map(({ value }) => value), [1, 2, 3]);
  assert.equal(values.rate(1200), 6);
  assert.equal(values.entries(9000).length, 0);
});
