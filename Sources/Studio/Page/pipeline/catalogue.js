/**
 * The filters of the server.
 *
 * @typedef {import("../protocol/Generated/message-types.js").FilterDescription} FilterDescription
 * @typedef {import("../protocol/Generated/message-types.js").ParameterDescription
 * } ParameterDescription
 * @typedef {import("../protocol/Generated/message-types.js").ParameterValue} ParameterValue
 */

import { listFilters } from "../protocol/services.js";
import { examples } from "./examples.js";

/** The order of the categories; others follow. */
const ORDER = [
  "effect", "color", "stylize", "blur", "distortion", "sharpen", "compositing", "geometry",
  "analysis",
];

/** The catalogue of the server. */
export class Catalogue {
  /** @param {FilterDescription[]} filters */
  constructor(filters) {
    this.filters = new Map(filters.map((filter) => [filter.name, filter]));
  }

  static async load() {
    return new Catalogue(await listFilters());
  }

  /** @returns {[string, FilterDescription[]][]} The filters by category. */
  byCategory() {
    /** @type {Map<string, FilterDescription[]>} */
    const categories = new Map();
    for (const filter of this.filters.values()) {
      const filters = categories.get(filter.category) ?? [];
      categories.set(filter.category, [...filters, filter]);
    }
    /** @param {string} category */
    const rank = (category) => (ORDER.includes(category) ? ORDER.indexOf(category) : ORDER.length);
    return [...categories].sort(([one], [other]) => rank(one) - rank(other));
  }

  /** @param {string} filter @param {string} name @returns {ParameterDescription|undefined} */
  parameter(filter, name) {
    return this.filters.get(filter)?.parameters.find((parameter) => parameter.name === name);
  }

  /**
   * Returns the parameters with which a filter is added: its defaults, unless they have no visible
   * effect.
   *
   * @param {string} filter
   * @returns {Map<string, ParameterValue>}
   */
  exampleOf(filter) {
    const known = Object.entries(examples[filter] ?? {})
      .filter(([name]) => this.parameter(filter, name));
    return new Map(known.map(([name, value]) => [name, structuredClone(value)]));
  }

  /**
   * Returns the parameters of a filter without which the server refuses it: the assets.
   *
   * @param {string} filter
   */
  requiredOf(filter) {
    const parameters = this.filters.get(filter)?.parameters ?? [];
    return parameters.filter((parameter) => !parameter.defaultValue);
  }
}
