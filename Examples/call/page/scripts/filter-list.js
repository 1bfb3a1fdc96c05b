/**
 * The list of supported filters: a button each, which selects and deselects the filter.
 *
 * @typedef {import("./catalogue.js").Catalogue} Catalogue
 * @typedef {import("./selection.js").Selection} Selection
 * @typedef {import("./assets.js").Assets} Assets
 */

import { byId, element, words } from "./dom.js";
import { quoted } from "./pipeline.js";

/**
 * The first values of filters whose defaults change nothing, so that a press of their button shows.
 *
 * @type {Record<string, Record<string, string>>}
 */
const FIRST_VALUES = {
  colorControls: { saturation: "1.6", contrast: "1.1" },
  exposureAdjust: { ev: "0.7" },
  hueAdjust: { angle: "1" },
  temperatureAndTint: { targetNeutral: "[4500, 0]" },
  vibrance: { amount: "0.8" },
  vignette: { intensity: "1", radius: "1.5" },
};

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
  /** @type {HTMLButtonElement[]} */
  const buttons = [];

  list.replaceChildren();
  for (const [category, filters] of catalogue.byCategory()) {
    const group = element("div", { class: "chips", role: "group", "aria-label": words(category) });
    for (const filter of filters) {
      const { name, summary } = filter;
      const button = element("button", { "data-filter": name, "aria-pressed": "false",
        title: summary, click: () => toggle(name) }, words(name));
      buttons.push(button);
      group.append(button);
    }
    list.append(element("section", {}, element("h3", {}, words(category)), group));
  }

  /** @param {string} name */
  async function toggle(name) {
    const selected = selection.find({ filter: name });
    if (selected) return selection.remove(selected.path);
    const values = { ...FIRST_VALUES[name], ...await required(name) };
    // Not `add`: an earlier press may still be on its way.
    return selection.toggle(name, { values });
  }

  /**
   * Returns values for the parameters without a default: they name pictures.
   *
   * @param {string} name
   */
  async function required(name) {
    /** @type {Record<string, string>} */
    const values = {};
    for (const parameter of catalogue.filters.get(name)?.parameters ?? []) {
      if (parameter.kind !== "asset" || parameter.default !== null) continue;
      values[parameter.name] = quoted(await assets.any());
    }
    return values;
  }

  search.oninput = () => {
    const wanted = search.value.trim().toLowerCase().replace(/\s+/g, "");
    for (const button of buttons) {
      const text = `${button.dataset.filter}${button.title}`.toLowerCase().replace(/\s+/g, "");
      button.hidden = !text.includes(wanted);
    }
    for (const section of list.children) {
      section.hidden = !section.querySelector("button:not([hidden])");
    }
  };

  selection.addEventListener("change", () => {
    for (const button of buttons) {
      const isSelected = Boolean(selection.find({ filter: button.dataset.filter }));
      button.setAttribute("aria-pressed", String(isSelected));
    }
  });
}
