/**
 * Pipelines in text form, as the server returns them: `glow: bloom(radius: 8) @mix(0.5), vignette`.
 * The server checks pipelines; this module only takes a valid one apart and puts it together.
 *
 * @typedef {import("./types.js").Stage} Stage
 */

const OPENING = "([";
const CLOSING = ")]";
const WORD = /^[A-Za-z_][A-Za-z0-9_.\-]*$/;

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
 * Returns a name or text as it is written in a pipeline: in quotes unless it is a word.
 *
 * @param {string} text
 */
export function quoted(text) {
  return WORD.test(text) ? text : JSON.stringify(text);
}

/**
 * Returns the content of a name or text, without quotes.
 *
 * @param {string} text
 */
export function unquoted(text) {
  const escapes = /\\(?:u\{([0-9a-fA-F]+)\}|(.))/g;
  if (!text.startsWith('"')) return text;
  return text.slice(1, -1).replace(escapes, (_, code, letter) =>
    code ? String.fromCodePoint(parseInt(code, 16)) :
    ({ n: "\n", r: "\r", t: "\t" })[/** @type {"n"} */ (letter)] ?? letter);
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
