/** Names and texts in the text form of pipelines. */

const WORD = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
/** @type {Record<string, string>} */
const ESCAPES = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Returns a name as it is written in a pipeline: in quotes unless it is a word.
 *
 * @param {string} text
 */
export function quoted(text) {
  if (WORD.test(text)) return text;
  const escaped = text.replace(/["\\\p{Cc}]/gu, (character) =>
    ESCAPES[character] ?? `\\u{${character.charCodeAt(0).toString(16)}}`);
  return `"${escaped}"`;
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
