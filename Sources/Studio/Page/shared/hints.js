/**
 * Hints over the picture: why a frame is hidden whole, and what a background filter waits for. Stages
 * report both in analyses.
 */

/** Why a stage that hides faces covers the whole frame: its word `wholeFrame`. */
/** @type {Record<string, string>} */
const REASONS = {
  searching: "looking for faces",
  cameraMoves: "the camera moves",
  regionsMove: "too much of the picture moves",
  faceLost: "a face is lost",
  faceUncertain: "the place of a face is uncertain",
  searchFailed: "the search for faces failed",
  searchLate: "the search for faces is late",
  tooManyFaces: "there are too many faces",
  fault: "the filter failed",
};
const UNKNOWN_REASON = "faces could be anywhere";
/** The time without news after which a frame counts as no longer hidden, in milliseconds. The stage
 * reports once a second. */
const WHOLE_FRAME_MS = 3000;
/** The time for which a sentence of the page is shown. */
const SENTENCE_MS = 8000;
/** The seconds from which the duration is shown. */
const SHOWN_SECONDS = 2;

/**
 * @typedef {object} Hint
 * @property {string} text
 * @property {number} [seconds] The time since when it applies.
 * @property {number} [progress] 0-1.
 *
 * @typedef {object} Report The part of an analysis that becomes hints.
 * @property {string} filter
 * @property {Record<string, number>} figures
 * @property {Record<string, string>} words
 */

/** The hints that apply now. */
export class Hints {
  /** @type {Map<string, {filter: string, hint: Hint, timer: any}>} */
  #hints = new Map();
  #show;

  /** @param {(hints: Hint[]) => void} show Called after every change. */
  constructor(show) {
    this.#show = show;
  }

  /**
   * Takes a report. Returns whether it is about hints.
   *
   * @param {Report} report
   */
  take({ filter, figures, words }) {
    const { plateProgress, plateReady, wholeFrameSeconds = 0 } = figures;
    const { wholeFrame, matteError } = words;
    if (wholeFrame !== undefined) {
      const reason = REASONS[wholeFrame] ?? UNKNOWN_REASON;
      this.#set(filter, "wholeFrame",
        wholeFrame && { text: `Blurred whole: ${reason}`, seconds: wholeFrameSeconds },
        WHOLE_FRAME_MS);
    }
    if (matteError !== undefined) {
      this.#set(filter, "matteError", matteError && {
        text: `The person cannot be told from the background: ${matteError}` });
    }
    const progress = plateReady ? 1 : plateProgress;
    if (progress !== undefined) {
      const percent = Math.round(progress * 100);
      this.#set(filter, "plate", progress < 1 && { progress,
        text: `Step out for two seconds to learn the empty room: ${percent} %` });
    }
    return wholeFrame !== undefined || matteError !== undefined || progress !== undefined;
  }

  /**
   * Shows a sentence for a while, instead of the one before.
   *
   * @param {string} text Empty: none.
   */
  say(text) {
    this.#set("", "sentence", text && { text }, SENTENCE_MS);
  }

  /**
   * Forgets the hints of filters that are no longer selected.
   *
   * @param {(filter: string) => boolean} isSelected
   */
  keep(isSelected) {
    for (const [key, { filter }] of this.#hints) {
      if (filter && !isSelected(filter)) this.#remove(key);
    }
    this.#changed();
  }

  /** @param {string} filter @param {string} kind @param {Hint|""|false} hint @param {number} [ms] */
  #set(filter, kind, hint, ms) {
    const key = `${filter} ${kind}`;
    const isNews = hint || this.#hints.has(key);
    this.#remove(key);
    if (hint) {
      const timer = ms && setTimeout(() => {
        this.#hints.delete(key);
        this.#changed();
      }, ms);
      this.#hints.set(key, { filter, hint, timer });
    }
    if (isNews) this.#changed();
  }

  /** @param {string} key */
  #remove(key) {
    clearTimeout(this.#hints.get(key)?.timer);
    this.#hints.delete(key);
  }

  #changed() {
    this.#show([...this.#hints.values()].map(({ hint }) => hint));
  }
}

/**
 * Shows hints in an element with the role `status`. A sentence that stays is not announced again.
 *
 * @param {HTMLElement} list
 * @param {Hint[]} hints
 */
export function showHints(list, hints) {
  while (list.children.length > hints.length) list.lastElementChild?.remove();
  while (list.children.length < hints.length) {
    const text = document.createElement("span");
    const seconds = document.createElement("span");
    seconds.ariaHidden = "true";
    const bar = document.createElement("progress");
    bar.ariaHidden = "true";
    const row = document.createElement("p");
    row.append(text, seconds, bar);
    list.append(row);
  }
  for (const [index, { text, seconds = 0, progress }] of hints.entries()) {
    const [label, duration, bar] = /** @type {any} */ (list.children[index].children);
    if (label.textContent !== text) label.textContent = text;
    duration.textContent = seconds >= SHOWN_SECONDS ? ` (${Math.floor(seconds)} s)` : "";
    bar.hidden = progress === undefined;
    bar.value = progress ?? 0;
  }
  list.hidden = hints.length === 0;
}
