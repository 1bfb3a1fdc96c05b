/** Positions of errors in the text of a pipeline. */

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
