/**
 * The filters of the server.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").FilterDescription} FilterDescription
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterDescription
 * } ParameterDescription
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 */

import { server } from "../server.js";
import { RpcError } from "../sidelight/index.js";

/** The order of the categories; others follow. */
const ORDER = [
  "effect", "color", "stylize", "blur", "distortion", "sharpen", "tile", "halftone", "generator",
  "compositing", "transition", "geometry", "reduction", "analysis",
];

const CODE = { category: "generator", keywords: "barcode code 2d matrix print url link" };

/** The filters that need a library or files, with their categories and words for searches. A
 * server without them lists no such filter. */
const OPTIONAL = {
  aztecCodeGenerator: CODE,
  barcode: { category: "analysis", keywords: "scan code" },
  code128BarcodeGenerator: CODE,
  faceBlur: { category: "blur", keywords: "anonymous censor hide privacy person people" },
  faceDetection: { category: "analysis", keywords: "attendance count people presence find" },
  facePixellate: {
    category: "stylize", keywords: "anonymous censor hide privacy person people blur mosaic",
  },
  pDF417BarcodeGenerator: CODE,
  qRCodeGenerator: CODE,
  text: { category: "compositing", keywords: "title caption subtitle label name watermark write" },
  timecode: { category: "compositing", keywords: "clock time date timestamp" },
};

/**
 * @typedef {Pick<FilterDescription, "name"|"category"|"summary"|"keywords"|"parameters">} KnownFilter
 *   A filter of the server, or one that it cannot run: its summary is the reason.
 */

/** The catalogue of the server. */
export class Catalogue {
  /** @param {FilterDescription[]} filters @param {KnownFilter[]} [missing] */
  constructor(filters, missing = []) {
    this.filters = new Map(filters.map((filter) => [filter.name, filter]));
    /** The filters that the server cannot run. */
    this.missing = missing;
  }

  static async load() {
    const filters = await server.listFilters();
    const listed = new Set(filters.map(({ name }) => name));
    const missing = await Promise.all(Object.entries(OPTIONAL)
      .filter(([name]) => !listed.has(name))
      .map(async ([name, known]) => ({ name, ...known, summary: await reasonOf(name) })));
    return new Catalogue(
      filters, missing.filter(({ summary }) => summary)
        .map((each) => ({ ...each, parameters: [] })));
  }

  /** @returns {[string, KnownFilter[]][]} All filters by category, those that are missing last. */
  byCategory() {
    /** @type {Map<string, KnownFilter[]>} */
    const categories = new Map();
    for (const filter of [...this.filters.values(), ...this.missing]) {
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
    const examples = (this.filters.get(filter)?.examples ?? [])
      .map(({ stages }) => [...stages.at(-1)?.filter?.parameters ?? []]);
    /** @param {[string, ParameterValue]} parameter */
    const isAsset = ([name]) => this.parameter(filter, name)?.kind === "ASSET";
    const chosen = examples.find((example) => !example.some(isAsset)) ?? examples[0] ?? [];
    return new Map(chosen.filter((each) => this.parameter(filter, each[0]) && !isAsset(each))
      .map(([name, value]) => [name, structuredClone(value)]));
  }

  /**
   * Returns the parameters of a filter without which the server refuses it: the assets.
   *
   * @param {string} filter
   */
  requiredOf(filter) {
    const parameters = this.filters.get(filter)?.parameters ?? [];
    return parameters.filter(({ kind, defaultValue }) => kind === "ASSET" && !defaultValue);
  }
}

/**
 * Returns the reason why the server cannot run a filter; empty if the caller may not use it.
 *
 * @param {string} name
 */
async function reasonOf(name) {
  try {
    await server.checkPipeline({ text: name });
  } catch (error) {
    if (error instanceof RpcError && error.code === "FAILED_PRECONDITION") {
      return error.sentence.replace(/^the filter .*? is not available: /, "");
    }
  }
  return "";
}
