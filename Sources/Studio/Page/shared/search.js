/** The search for filters by name, category, description and keywords. */

import { words } from "./words.js";

/** Words of a query that name no filter. */
const IGNORED = new Set(
  "a an and the of to in on at for from with my your our me i is it make add filter filters".split(" "));
/** The letters from which a word of a query is the beginning of others. */
const LEAST_LETTERS = 3;
/** Other spellings of words in names and descriptions. */
/** @type {[RegExp, string][]} */
const SPELLINGS = [[/colour/g, "color"], [/grey/g, "gray"]];

/**
 * Returns whether a filter is one that a query looks for: each word of the query begins one of the
 * filter's words, whatever its ending.
 *
 * @param {{name: string, summary: string, category: string, keywords?: string}} filter
 * @param {string} query Empty: all filters.
 */
export function isFound({ name, summary, category, keywords = "" }, query) {
  const text = spelled(`${words(name)} ${category} ${summary} ${keywords}`);
  const whole = name.toLowerCase();
  return wordsOf(spelled(query)).filter((word) => !IGNORED.has(word)).every((word) =>
    wordsOf(text).some((each) => (word.length < LEAST_LETTERS
      ? each === word : each.startsWith(root(word)) || whole.includes(word))));
}

/** @param {string} text */
function wordsOf(text) {
  return text.split(/[^\p{L}\p{N}×]+/u).filter(Boolean);
}

/** @param {string} text */
function spelled(text) {
  return SPELLINGS.reduce(
    (changed, [from, to]) => changed.replace(from, to), text.toLowerCase());
}

/**
 * Returns a word without its ending: "blurring" and "blurred" as "blur", "faces" as "face".
 *
 * @param {string} word
 */
function root(word) {
  if (word.length < 5) return word.replace(/([^s])s$/, "$1");
  const short = word.replace(/(ing|ed)$/, "");
  if (short !== word) return short.replace(/([bdgmnprt])\1$/, "$1");
  return word.replace(/([^s])s$/, "$1").replace(/e$/, "");
}
