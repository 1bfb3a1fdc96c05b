/**
 * Controls for colours, lists of numbers, switches, choices, files and texts, and values without a
 * control.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Asset} Asset
 * @typedef {import("../sidelight/Generated/message-types.js").Color} Color
 * @typedef {import("./controls.js").ControlFactory} ControlFactory
 */

import { channelsOf, hexadecimal } from "./colors.js";
import { element, words } from "./dom.js";
import { valueText } from "./text.js";

/** @type {ControlFactory} */
export function colorControl(parameter, value, id, change) {
  let alpha = value.color?.alpha;
  const input = element("input", { id, type: "color", input: send });
  const opacity = element("input", { type: "range", min: 0, max: 1, step: 0.01,
    "aria-label": `Opacity of ${words(parameter.name)}`, input: () => {
      alpha = Number(opacity.value) === 1 ? undefined : Number(opacity.value);
      send();
    } });

  function send() {
    change({ color: { ...channelsOf(input.value), ...(alpha === undefined ? {} : { alpha }) } });
  }

  /** @param {Color|undefined} color */
  function show(color) {
    alpha = color?.alpha;
    const { red, green, blue } = color ?? { red: 0, green: 0, blue: 0 };
    input.value = hexadecimal([red, green, blue]);
    opacity.value = String(alpha ?? 1);
  }
  show(value.color);
  return { elements: [input, opacity], show: (other) => show(other.color) };
}

/** @type {ControlFactory} */
export function vectorControl(parameter, value, id, change) {
  const length = parameter.vectorLength || value.vector?.values.length || 1;
  const label = words(parameter.name);
  const fields = Array.from({ length }, (_, index) => element("input", {
    id: index === 0 ? id : null, type: "number", step: "any", class: "number",
    "aria-label": `${label}, number ${index + 1} of ${length}`,
    change: () => {
      const values = fields.map((field) => Number(field.value));
      if (values.every(Number.isFinite)) change({ vector: { values } });
    },
  }));
  const columns = Number.isInteger(Math.sqrt(length)) && length > 1 ? Math.sqrt(length)
    : Math.min(length, 4);
  const grid = element("div", { class: "vector", "data-columns": columns }, ...fields);

  /** @param {number[]} values */
  function show(values) {
    for (const [index, field] of fields.entries()) field.value = String(values[index] ?? 0);
  }
  show(value.vector?.values ?? []);
  return { elements: [grid], show: (other) => show(other.vector?.values ?? []) };
}

/** @type {ControlFactory} */
export function flagControl(_, value, id, change) {
  const input = element("input", { id, type: "checkbox", role: "switch",
    change: () => change({ flag: input.checked }) });
  input.checked = value.flag ?? false;
  return { elements: [input], show: (other) => { input.checked = other.flag ?? false; } };
}

/** @type {ControlFactory} */
export function choiceControl({ choices }, value, id, change) {
  const current = value.text ?? "";
  const names = choices.includes(current) ? choices : [current, ...choices];
  const input = element("select", { id, change: () => change({ text: input.value }) },
    ...names.map((name) => element("option", { value: name }, name || "none")));
  input.value = current;
  return { elements: [input], show: (other) => { input.value = other.text ?? ""; } };
}

/** @type {ControlFactory} */
export function assetControl(parameter, value, id, change, { assets, addAsset }) {
  const current = value.text ?? "";
  const wanted = parameter.assetKind.toUpperCase();
  const names = assets().filter(({ kind }) => kind === wanted).map(({ name }) => name);
  if (current && !names.includes(current)) names.push(current);
  const isRequired = !parameter.defaultValue;
  const input = element("select", { id, change: () => change({ text: input.value }) },
    element("option", { value: "" }, isRequired ? "Choose a file" : "none"),
    ...names.map((name) => element("option", { value: name }, name)));
  input.value = current;
  const add = addAsset ? [element("button",
    { type: "button", class: "small", "data-action": "add-asset", click: addAsset }, "Add…")] : [];
  return { elements: [input, ...add], show: (other) => { input.value = other.text ?? ""; } };
}

/** @type {ControlFactory} */
export function textControl(_, value, id, change) {
  const input = element("input", { id, type: "text", spellcheck: "false",
    change: () => change({ text: input.value }) });
  const show = (/** @type {typeof value} */ other) => { input.value = other.text ?? ""; };
  show(value);
  return { elements: [input], show };
}

/** @type {ControlFactory} */
export function readOnlyControl(_, value, id) {
  const output = element("output", { id, class: "hint" });
  const show = (/** @type {typeof value} */ other) => {
    output.textContent = other.text ?? (Object.keys(other).length > 0 ? valueText(other) : "");
  };
  show(value);
  return { elements: [output], show };
}
