/**
 * Pipelines in text form, as the server returns them: `glow: bloom(radius: 8) @mix(0.5), vignette`.
 * The server checks pipelines; this module only takes a valid one apart and puts it together.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Length} Length
 * @typedef {import("../sidelight/Generated/message-types.js").LengthUnit} LengthUnit
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 * @typedef {import("./types.js").Stage} Stage
 */

import { channelsOf } from "../shared/colors.js";
import { quoted, unquoted } from "../shared/quoting.js";

const OPENING = "([";
const CLOSING = ")]";
/** @type {Record<string, LengthUnit>} */
const UNITS = { w: "WIDTH", h: "HEIGHT", min: "SHORT_SIDE" };

/**
 * Returns the stages of a valid pipeline, and its working space.
 *
 * @param {string} text
 * @returns {{space: string, stages: Stage[]}}
 */
export function parse(text) {
  const space = /^\s*(@linear|@gamma)\b\s*/.exec(text);
  const rest = text.slice(space ? space[0].length : 0);
  const stages = rest.trim() ? split(rest, ",").map(parseStage) : [];
  return { space: space ? space[1] : "", stages };
}

/**
 * Returns a pipeline as text.
 *
 * @param {{space: string, stages: Stage[]}} pipeline
 */
export function format({ space, stages }) {
  return [space, stages.map(formatStage).join(", ")].filter(Boolean).join(" ");
}

/**
 * Returns a value from its text form.
 *
 * @param {string} text
 * @param {unknown} kind The kind of the parameter.
 * @returns {ParameterValue}
 */
export function valueOf(text, kind) {
  const parts = text.replace(/^(color)?[([]|[)\]]$/g, "").split(",").filter(Boolean);
  switch (kind) {
    case "NUMBER": return { number: Number(text) };
    case "LENGTH": return { length: lengthOf(text) };
    case "POINT": return { point: { x: lengthOf(parts[0]), y: lengthOf(parts[1]) } };
    case "COLOR": return { color: colorOf(text, parts) };
    case "VECTOR": return { vector: { values: parts.map(Number) } };
    case "FLAG": return { flag: text === "true" };
    default: return { text: unquoted(text) };
  }
}

/** @param {string} [text] Such as `12`, `12px`, `0.5w`, `0.1min`. @returns {Length} */
function lengthOf(text = "0") {
  const unit = /[a-z]+$/.exec(text.trim())?.[0] ?? "px";
  return { value: parseFloat(text), unit: UNITS[unit] ?? "PIXELS" };
}

/** @param {string} text `#ff8000` or `#ff800080`. @param {string[]} parts Of `color(...)`. */
function colorOf(text, parts) {
  const [red, green, blue, alpha] = parts.map(Number);
  if (!text.startsWith("#")) return { red, green, blue, alpha };
  return { ...channelsOf(text), alpha: text.length > 7 ? parseInt(text.slice(7), 16) / 255 : 1 };
}

/** @param {string} text @param {number} index @returns {Stage} */
function parseStage(text, index) {
  const [head, ...attributes] = split(text, "@").map((part) => part.trim());
  const named = split(head, ":");
  const id = named.length > 1 ? unquoted(named[0].trim()) : "";
  const content = named.slice(named.length > 1 ? 1 : 0).join(":").trim();
  const isNested = content.startsWith("[");
  const open = content.indexOf("(");
  const list = open < 0 || isNested ? "" : content.slice(open + 1, content.lastIndexOf(")"));
  return {
    path: id || `stages[${index}]`,
    id,
    filter: isNested ? "" : unquoted((open < 0 ? content : content.slice(0, open)).trim()),
    values: new Map(list.trim() ? split(list, ",").map(parseValue) : []),
    content: isNested ? content : "",
    attributes: attributes.filter((name) => name !== "off").map((name) => `@${name}`),
    active: !attributes.includes("off"),
  };
}

/** @param {string} text @returns {[string, string]} */
function parseValue(text) {
  const [name, ...value] = split(text, ":");
  return [unquoted(name.trim()), value.join(":").trim()];
}

/** @param {Stage} stage */
function formatStage({ id, filter, values, content, attributes, active }) {
  const list = [...values].map(([name, value]) => `${quoted(name)}: ${value}`).join(", ");
  const body = content || quoted(filter) + (list ? `(${list})` : "");
  return [id ? `${quoted(id)}:` : "", body, ...attributes, active ? "" : "@off"]
    .filter(Boolean).join(" ");
}

/**
 * Returns the parts of a text between separators that are outside of brackets and quotes.
 *
 * @param {string} text
 * @param {string} separator A character.
 */
function split(text, separator) {
  const parts = [""];
  let depth = 0;
  let isQuoted = false;
  for (let index = 0; index < text.length; index += 1) {
    let character = text[index];
    if (isQuoted && character === "\\") character += text[(index += 1)] ?? "";
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && OPENING.includes(character)) depth += 1;
    else if (!isQuoted && CLOSING.includes(character)) depth -= 1;
    if (character === separator && depth === 0 && !isQuoted) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
