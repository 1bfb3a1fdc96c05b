/**
 * The colours of a pipeline's text, and the mark of an error.
 */

import { element } from "../shared/dom.js";

/** @type {[string, RegExp][]} The kinds of parts, the first that matches. */
const PARTS = [
  ["string", /"(?:[^"\\]|\\.)*"?/y],
  ["color", /#[0-9a-fA-F]+/y],
  ["attribute", /@[A-Za-z]*/y],
  ["label", /[A-Za-z_][\w.-]*(?=\s*:)/y],
  ["name", /[A-Za-z_][\w.-]*/y],
  ["number", /[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?:px|min|w|h)?/y],
  ["other", /[\s\S]/y],
];

/**
 * Returns the text as coloured elements.
 *
 * @param {string} text
 * @param {number} [errorAt] The index of the character at which an error is marked.
 * @returns {Node[]}
 */
export function highlighted(text, errorAt) {
  /** @type {Node[]} */
  const nodes = [];
  let offset = 0;
  while (offset < text.length) {
    const [kind, part] = partAt(text, offset);
    const isError = errorAt !== undefined && errorAt >= offset && errorAt < offset + part.length;
    const isPlain = kind === "other" && !isError;
    nodes.push(isPlain ? document.createTextNode(part)
      : element("span", { class: `text-${kind}${isError ? " text-error" : ""}` }, part));
    offset += part.length;
  }
  if (errorAt !== undefined && errorAt >= text.length) {
    nodes.push(element("span", { class: "text-error text-end" }, " "));
  }
  // A last line break has a height only before something.
  nodes.push(document.createTextNode("\u200b"));
  return nodes;
}

/** @param {string} text @param {number} offset @returns {[string, string]} */
function partAt(text, offset) {
  for (const [kind, pattern] of PARTS) {
    pattern.lastIndex = offset;
    const found = pattern.exec(text);
    if (found) return [kind, found[0]];
  }
  return ["other", text[offset]];
}

/**
 * Returns the index of a character, from its line and column, which count characters from 1.
 *
 * @param {string} text
 * @param {number} line
 * @param {number} column
 */
export function indexOf(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
  return before + Array.from(lines[line - 1] ?? "").slice(0, column - 1).join("").length;
}

/**
 * Returns a text with another word at an index.
 *
 * @param {string} text
 * @param {number} index
 * @param {string} word
 */
export function replacedAt(text, index, word) {
  return text.slice(0, index) + text.slice(index).replace(/^("[^"]*"|[\w.-]*)/, () => word);
}

/**
 * Returns the part of a line around an error, and a second line with a mark under the character.
 *
 * @param {string} text
 * @param {number} line
 * @param {number} column
 * @param {number} context The number of characters on each side.
 */
export function excerpt(text, line, column, context) {
  const characters = Array.from(text.split("\n")[line - 1] ?? "");
  const start = Math.max(0, column - 1 - context);
  const shown = characters.slice(start, column + context).join("");
  const head = start > 0 ? "…" : "";
  return `${head}${shown}\n${" ".repeat(head.length + column - 1 - start)}^`;
}
