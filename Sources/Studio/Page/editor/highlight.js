/** The colours of a pipeline's text, and the mark of an error. */

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
