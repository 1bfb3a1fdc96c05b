/**
 * The list of supported filters: a button each, which selects and deselects the filter, with its
 * effect on a portrait.
 *
 * @typedef {import("./catalogue.js").Catalogue} Catalogue
 * @typedef {import("./types.js").Filter} Filter
 * @typedef {import("./types.js").Parameter} Parameter
 * @typedef {import("./selection.js").Selection} Selection
 * @typedef {import("./assets.js").Assets} Assets
 */

import { isFound } from "../shared/search.js";
import { byId, element, words } from "../shared/dom.js";
import { quoted } from "../shared/quoting.js";
import { valueText } from "../shared/text.js";
import { format } from "./pipeline.js";
import { stageOf } from "./selection.js";

/**
 * Fills the list.
 *
 * @param {Catalogue} catalogue
 * @param {Selection} selection
 * @param {Assets} assets
 */
export function showFilters(catalogue, selection, assets) {
  const list = byId("filters");
  const search = byId("filter-search");
  const nothing = byId("filters-none");
  /** @type {Map<HTMLButtonElement, Filter>} */
  const buttons = new Map();

  list.replaceChildren();
  for (const [category, filters] of catalogue.byCategory()) {
    const group = element("div", { class: "thumbs", role: "group", "aria-label": words(category) });
    for (const filter of filters) {
      const { name, summary } = filter;
      const button = element("button", { class: "thumb", "data-filter": name,
        "aria-pressed": "false", title: summary, click: () => toggle(name) },
      thumbnail(filter), element("span", {}, words(name)));
      buttons.set(button, filter);
      group.append(button);
    }
    list.append(element("section", {}, element("h3", {}, words(category)), group));
  }

  /**
   * Returns the picture of a filter as a press of its button adds it. Not for filters that need a
   * picture.
   *
   * @param {Filter} filter
   */
  function thumbnail({ name, parameters }) {
    const image = element("img", { loading: "lazy", alt: "", width: 192, height: 108,
      error: () => image.removeAttribute("src") });
    if (!parameters.some(isRequired)) {
      const text = format({ space: "", stages: [stageOf(name, exampleOf(name))] });
      image.src = `${assets.resources}/thumbnail?pipeline=${encodeURIComponent(text)}`;
    }
    return image;
  }

  /** @param {string} name */
  async function toggle(name) {
    const selected = selection.find({ filter: name });
    if (selected) return selection.remove(selected.path);
    const values = { ...exampleOf(name), ...await required(name) };
    // Not `add`: an earlier press may still be on its way.
    return selection.toggle(name, { values });
  }

  /**
   * Returns the first values of a filter whose defaults have little effect.
   *
   * @param {string} name
   */
  function exampleOf(name) {
    const example = catalogue.filters.get(name)?.example ?? {};
    return Object.fromEntries(
      Object.entries(example).map(([parameter, value]) => [parameter, valueText(value)]));
  }

  /**
   * Returns values for the parameters without a default: they name pictures.
   *
   * @param {string} name
   */
  async function required(name) {
    /** @type {Record<string, string>} */
    const values = {};
    for (const parameter of catalogue.filters.get(name)?.parameters.filter(isRequired) ?? []) {
      values[parameter.name] = quoted(await assets.any());
    }
    return values;
  }

  search.oninput = () => {
    for (const [button, filter] of buttons) button.hidden = !isFound(filter, search.value);
    for (const section of list.children) {
      section.hidden = !section.querySelector("button:not([hidden])");
    }
    nothing.hidden = [...buttons.keys()].some((button) => !button.hidden);
  };

  selection.addEventListener("change", () => {
    for (const [button, { name }] of buttons) {
      button.setAttribute("aria-pressed", String(Boolean(selection.find({ filter: name }))));
    }
  });
}

/** @param {Parameter} parameter */
function isRequired({ kind, defaultValue }) {
  return kind === "ASSET" && !defaultValue;
}
