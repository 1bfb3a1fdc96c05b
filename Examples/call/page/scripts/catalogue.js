/**
 * The filters that the participant may use.
 *
 * @typedef {import("./types.js").Filter} Filter
 * @typedef {import("./types.js").Parameter} Parameter
 */

import { reasonOf } from "./responses.js";

/** The order of the list; others follow. */
const ORDER = ["effect", "color", "stylize", "blur", "sharpen", "distortion", "compositing"];
/** Analyses change no pixel; the page has no place for their results. */
const HIDDEN_CATEGORIES = ["analysis"];

/** The catalogue of the server. */
export class Catalogue {
  /** @param {Filter[]} filters */
  constructor(filters) {
    this.filters = new Map(filters.map((filter) => [filter.name, filter]));
  }

  /**
   * Loads the filters of a participant.
   *
   * @param {string} resources The path of the participant's resources.
   */
  static async load(resources) {
    const response = await fetch(`${resources}/filters`);
    if (!response.ok) throw new Error(`The filters are not available: ${await reasonOf(response)}`);
    return new Catalogue(await response.json());
  }

  /** Returns the filters for the list, by category. */
  byCategory() {
    /** @type {Map<string, Filter[]>} */
    const categories = new Map();
    for (const filter of this.filters.values()) {
      if (HIDDEN_CATEGORIES.includes(filter.category)) continue;
      const filters = categories.get(filter.category) ?? [];
      categories.set(filter.category, [...filters, filter]);
    }
    /** @param {string} category */
    const rank = (category) => (ORDER.includes(category) ? ORDER.indexOf(category) : ORDER.length);
    return new Map([...categories].sort(([one], [other]) => rank(one) - rank(other)));
  }

  /**
   * Returns whether filters are available.
   *
   * @param {string[]} names
   */
  has(names) {
    return names.every((name) => this.filters.has(name));
  }

  /**
   * Returns a parameter of a filter.
   *
   * @param {string} filter
   * @param {string} name
   * @returns {Parameter|undefined}
   */
  parameter(filter, name) {
    return this.filters.get(filter)?.parameters.find((parameter) => parameter.name === name);
  }
}
