/**
 * The text form of pipelines, as the server prints it. The server parses texts; see
 * `FrameFilter.CheckPipeline`.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Color} Color
 * @typedef {import("../sidelight/Generated/message-types.js").Length} Length
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 * @typedef {import("../sidelight/Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("../sidelight/Generated/message-types.js").Point} Point
 * @typedef {import("../sidelight/Generated/message-types.js").Region} Region
 * @typedef {import("../sidelight/Generated/message-types.js").Stage} Stage
 */

import { quoted } from "./quoting.js";

/** Words that are not texts as values. */
const RESERVED = ["true", "false", "nan"];
/** @type {Record<string, string>} */
const UNITS = { WIDTH: "w", HEIGHT: "h", SHORT_SIDE: "min" };
/** @type {Record<string, string>} */
const SPACES = { SRGB_GAMMA: "@gamma", SRGB_LINEAR: "@linear" };

/**
 * Returns a pipeline as text. Parameters are ordered by name, so equal pipelines have equal texts.
 *
 * @param {Pipeline} pipeline
 * @param {string} [separator] The text between two stages.
 * @returns {string}
 */
export function textOf(pipeline, separator = ", ") {
  const space = SPACES[pipeline.workingSpace] ?? "";
  return [space, pipeline.stages.map(stageText).join(separator)].filter(Boolean).join(" ");
}

/** @param {Stage} stage @returns {string} */
export function stageText(stage) {
  const parts = [stage.id ? `${quoted(stage.id)}:` : "", content(stage)];
  if (stage.mix !== undefined && stage.mix !== 1) parts.push(`@mix(${stage.mix})`);
  if (stage.region) parts.push(`@region${lengths(regionLengths(stage.region))}`);
  if (stage.active === false) parts.push("@off");
  return parts.filter(Boolean).join(" ");
}

/** @param {ParameterValue} value @returns {string} */
export function valueText(value) {
  if (value.number !== undefined) return numberText(value.number);
  if (value.length) return length(value.length, "px");
  if (value.point) return lengths([value.point.x, value.point.y]);
  if (value.color) return colorText(value.color);
  if (value.vector) return `[${value.vector.values.map(numberText).join(", ")}]`;
  if (value.flag !== undefined) return String(value.flag);
  const text = value.text ?? "";
  return RESERVED.includes(text) ? `"${text}"` : quoted(text);
}

/** @param {Region} region @returns {(Length|undefined)[]} */
function regionLengths({ origin, width, height }) {
  return [origin?.x, origin?.y, width, height];
}

/** @param {Stage} stage */
function content({ filter, pipeline }) {
  if (pipeline) return `[${textOf(pipeline)}]`;
  if (!filter) return "";
  const parameters = [...filter.parameters].sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, value]) => `${quoted(key)}: ${valueText(value)}`);
  return quoted(filter.name) + (parameters.length ? `(${parameters.join(", ")})` : "");
}

/** @param {Length} [value] @param {string} [pixels] The unit of pixels. */
function length(value, pixels = "") {
  if (!value) return "0";
  return numberText(value.value) + (UNITS[value.unit] ?? (pixels === "px" ? "px" : ""));
}

/** @param {(Length|undefined)[]} values */
function lengths(values) {
  return `(${values.map((value) => length(value)).join(", ")})`;
}

/** @param {number} number */
function numberText(number) {
  if (Number.isNaN(number)) return "nan";
  if (!Number.isFinite(number)) return number < 0 ? "-1e999" : "1e999";
  return Object.is(number, -0) ? "-0" : String(number);
}

/** @param {Color} color */
function colorText({ red, green, blue, alpha = 1 }) {
  const channels = alpha === 1 ? [red, green, blue] : [red, green, blue, alpha];
  const bytes = channels.map((each) => Math.round(Math.min(255, Math.max(0, each * 255))));
  if (!bytes.every((byte, index) => byte / 255 === channels[index])) {
    return `color(${channels.map(numberText).join(", ")})`;
  }
  return `#${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
