/**
 * Controls for parameters, from their descriptions.
 *
 * @typedef {import("./types.js").Parameter} Parameter
 * @typedef {import("./types.js").Value} Value
 */

import { channelsOf, hexadecimal } from "../shared/colors.js";
import { element, rounded, words } from "../shared/dom.js";
import { quoted, unquoted } from "./pipeline.js";

/**
 * @typedef {object} Context
 * @property {string} prefix A prefix for IDs, unique in the page.
 * @property {() => {width: number, height: number}} frameSize
 * @property {() => string[]} assets The names of the available assets.
 * @property {(text: string, value: Value) => void} change Called for each new value.
 */

/** The number of steps of a slider. */
const STEPS = 200;

/**
 * Returns the controls of a parameter.
 *
 * @param {Parameter} parameter
 * @param {string|undefined} text The value in text form; `undefined`: the default.
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function control(parameter, text, context) {
  const current = text ?? parameter.default ?? "";
  switch (parameter.kind) {
    case "number": return slider(parameter, Number(current), context);
    case "length": return slider(parameter, pixels(current, context.frameSize()), context);
    case "point": return point(parameter, current, context);
    case "color": return color(parameter, current, context);
    case "flag": return flag(parameter, current === "true", context);
    case "choice": return choice(parameter, parameter.choices, unquoted(current), context);
    case "asset": return choice(parameter, ["", ...context.assets()], unquoted(current), context);
    case "vector": return vector(parameter, current, context);
    case "text": return line(parameter, unquoted(current), context);
    case "unknown": return labelled(parameter, element("code", {}, current));
  }
}

/** @param {Parameter} parameter @param {number} value @param {Context} context */
function slider(parameter, value, { prefix, change }) {
  const { name, unit, kind } = parameter;
  const range = parameter.slider ?? parameter.limits ?? { minimum: 0, maximum: 1 };
  const shownUnit = kind === "length" ? "px" : unit;
  return sliderRow(parameter, { id: `${prefix}-${name}`, label: words(name), range, value,
    shown: (number) => withUnit(number, shownUnit), onInput: (number) =>
      change(String(number), number) });
}

/** @param {Parameter} parameter @param {string} text @param {Context} context */
function point(parameter, text, { prefix, frameSize, change }) {
  const size = frameSize();
  // The catalogue has points as lists of pixels.
  const [across = "0", down = "0"] = text.replace(/[()[\]\s]/g, "").split(",");
  const place = { x: pixels(across, size) / size.width, y: pixels(down, size) / size.height };
  /** @param {"x"|"y"} axis */
  const row = (axis) => sliderRow(parameter, { id: `${prefix}-${parameter.name}-${axis}`, axis,
    label: `${words(parameter.name)}, ${axis === "x" ? "from the left" : "from the top"}`,
    range: { minimum: 0, maximum: 1 }, value: place[axis],
    shown: (number) => `${Math.round(number * 100)} %`,
    onInput: (number) => {
      place[axis] = number;
      change(`(${place.x}w, ${place.y}h)`, { ...place });
    } });
  return element("div", {}, row("x"), row("y"));
}

/**
 * @param {Parameter} parameter
 * @param {{id: string, axis?: string, label: string, range: {minimum: number, maximum: number},
 *   value: number, shown: (number: number) => string, onInput: (number: number) => void}} row
 */
function sliderRow(parameter, { id, axis, label, range, value, shown, onInput }) {
  const { minimum, maximum } = range;
  const output = element("output", { for: id }, shown(value));
  const input = element("input", { id, type: "range", min: minimum, max: maximum,
    step: (maximum - minimum) / STEPS, "data-parameter": parameter.name, "data-axis": axis ?? null,
    "aria-valuetext": shown(value),
    input: () => {
      const number = rounded(Number(input.value));
      output.value = shown(number);
      input.setAttribute("aria-valuetext", output.value);
      onInput(number);
    } });
  input.value = String(value);
  const caption = element("label", { for: id, title: parameter.summary }, label);
  return element("div", { class: "parameter" }, caption, output, input);
}

/** @param {Parameter} parameter @param {string} text @param {Context} context */
function color(parameter, text, { prefix, change }) {
  const input = element("input", { id: `${prefix}-${parameter.name}`, type: "color",
    "data-parameter": parameter.name,
    input: () => change(input.value, channelsOf(input.value)) });
  input.value = inputValue(text);
  return labelled(parameter, input);
}

/** @param {Parameter} parameter @param {boolean} isOn @param {Context} context */
function flag(parameter, isOn, { prefix, change }) {
  const input = element("input", { id: `${prefix}-${parameter.name}`, type: "checkbox",
    role: "switch", "data-parameter": parameter.name,
    change: () => change(String(input.checked), input.checked) });
  input.checked = isOn;
  return labelled(parameter, input);
}

/**
 * @param {Parameter} parameter
 * @param {string[]} choices
 * @param {string} current
 * @param {Context} context
 */
function choice(parameter, choices, current, { prefix, change }) {
  const all = choices.includes(current) ? choices : [current, ...choices];
  const options = all.map((name) => element("option", { value: name }, name || "none"));
  const input = element("select", { id: `${prefix}-${parameter.name}`,
    "data-parameter": parameter.name,
    change: () => change(quoted(input.value), input.value) }, ...options);
  input.value = current;
  return labelled(parameter, input);
}

/** @param {Parameter} parameter @param {string} text @param {Context} context */
function vector(parameter, text, { prefix, change }) {
  const input = element("input", { id: `${prefix}-${parameter.name}`, spellcheck: "false",
    "data-parameter": parameter.name, value: text.replace(/[[\]]/g, ""),
    change: () => {
      const numbers = input.value.split(/[\s,;]+/).filter(Boolean).map(Number);
      if (numbers.every(Number.isFinite)) change(`[${numbers.join(", ")}]`, numbers);
    } });
  return labelled(parameter, input);
}

/** @param {Parameter} parameter @param {string} text @param {Context} context */
function line(parameter, text, { prefix, change }) {
  const input = element("input", { id: `${prefix}-${parameter.name}`,
    "data-parameter": parameter.name, value: text,
    change: () => change(JSON.stringify(input.value), input.value) });
  return labelled(parameter, input);
}

/** @param {Parameter} parameter @param {HTMLElement} input */
function labelled(parameter, input) {
  const { name, summary } = parameter;
  const caption = element("label", { for: input.id, title: summary }, words(name));
  return element("div", { class: "parameter" }, caption, input);
}

/**
 * Returns a length in pixels.
 *
 * @param {string} text Such as `12`, `12px`, `0.5w`, `0.1min`.
 * @param {{width: number, height: number}} size
 */
function pixels(text, { width, height }) {
  const scales = { w: width, h: height, min: Math.min(width, height) };
  const unit = /[a-z]+$/.exec(text)?.[0] ?? "px";
  return parseFloat(text) * (scales[/** @type {"w"} */ (unit)] ?? 1);
}

/** @param {number} number @param {string} unit */
function withUnit(number, unit) {
  switch (unit) {
    case "rad": return `${Math.round(number * 180 / Math.PI)}°`;
    case "K": return `${Math.round(number)} K`;
    case "px": return `${rounded(number)} px`;
    default: return String(rounded(number));
  }
}

/** @param {string} text `#ff8000`, `#ff800080` or `color(1, 0.5, 0)`. */
function inputValue(text) {
  if (text.startsWith("#")) return text.slice(0, 7);
  const channels = text.match(/-?[\d.]+(e-?\d+)?/g) ?? ["0", "0", "0"];
  return hexadecimal(channels.slice(0, 3).map(Number));
}
