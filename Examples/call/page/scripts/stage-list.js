/**
 * The selected stages in order, each with its switch and the controls of its parameters.
 *
 * @typedef {import("./catalogue.js").Catalogue} Catalogue
 * @typedef {import("./selection.js").Selection} Selection
 * @typedef {import("./assets.js").Assets} Assets
 * @typedef {import("./types.js").Stage} Stage
 */

import { parameterRow } from "../shared/controls.js";
import { byId, element, words } from "../shared/dom.js";
import { unquoted } from "../shared/quoting.js";
import { valueOf } from "./pipeline.js";
import { isRelevant } from "./relevance.js";

/**
 * Shows the stages, after each change of the selection.
 *
 * @param {Catalogue} catalogue
 * @param {Selection} selection
 * @param {Assets} assets
 * @param {() => {width: number, height: number}} frameSize
 */
export function showStages(catalogue, selection, assets, frameSize) {
  const list = byId("selected");
  const applied = byId("applied");
  byId("clear").onclick = () => selection.clear();

  /** @param {Stage} stage @param {number} index */
  function item(stage, index) {
    const { name, detail } = title(stage);
    const last = selection.stages.length - 1;
    const active = element("input", { type: "checkbox", role: "switch", "data-action": "active",
      "aria-label": `${name}: active`, title: "Active",
      change: () => selection.activate(stage, active.checked) });
    active.checked = stage.active;
    return element("li", { "data-stage": stage.path, "data-filter": stage.filter },
      element("div", { class: "stage" },
        active,
        element("span", { class: "stage-name" }, name,
          ...(detail ? [element("small", {}, detail)] : [])),
        ...stage.attributes.map((text) => element("code", {}, text)),
        action("earlier", "↑", `Move ${name} earlier`, index === 0, () =>
          selection.move(stage.path, -1)),
        action("later", "↓", `Move ${name} later`, index === last, () =>
          selection.move(stage.path, 1)),
        action("remove", "×", `Remove ${name}`, false, () => selection.remove(stage.path))),
      ...controls(stage));
  }

  /**
   * Returns the name of a stage, and its filter if that is another one: stickers and backgrounds
   * are named after their pictures.
   *
   * @param {Stage} stage
   */
  function title({ filter, values, content }) {
    const picture = (catalogue.filters.get(filter)?.parameters ?? [])
      .filter(({ kind, name }) => kind === "ASSET" && name !== "plate")
      .map(({ name }) => unquoted(values.get(name) ?? "")).find(Boolean);
    const name = filter ? words(filter) : content;
    return picture ? { name: words(picture), detail: name } : { name, detail: "" };
  }

  /** @param {Stage} stage */
  function controls(stage) {
    const parameters = catalogue.filters.get(stage.filter)?.parameters ?? [];
    return parameters.map((parameter) => {
      const { name, kind, defaultValue } = parameter;
      const text = stage.values.get(name);
      const row = parameterRow(parameter, text === undefined ? text : valueOf(text, kind), {
        id: `stage-${stage.path}`,
        frameSize,
        assets: () => assets.uploaded,
        change: (_, value = defaultValue) => value && selection.set(stage, name, value),
      });
      row.hidden = !isRelevant(stage, name, catalogue);
      return row;
    });
  }

  selection.addEventListener("change", () => {
    const focused = document.activeElement?.closest("[data-action]");
    const stage = focused?.closest("li")?.dataset.stage;
    const wasFocused = list.contains(focused) && stage && focused?.getAttribute("data-action");
    list.replaceChildren(...selection.stages.map(item));
    byId("nothing-selected").hidden = selection.stages.length > 0;
    byId("clear").hidden = selection.stages.length === 0;
    if (wasFocused) {
      list.querySelector(`[data-stage="${CSS.escape(stage)}"] [data-action="${wasFocused}"]`)
        ?.focus();
    }
  });

  selection.addEventListener("values", () => {
    for (const [index, item] of [...list.children].entries()) {
      for (const row of item.querySelectorAll("[data-parameter]")) {
        row.hidden = !isRelevant(selection.stages[index], row.dataset.parameter, catalogue);
      }
    }
  });

  selection.addEventListener("applied", (event) => {
    const { revision, sequence } = /** @type {CustomEvent} */ (event).detail;
    Object.assign(applied.dataset, { revision, sequence });
    applied.textContent = `Revision ${revision}, in force from frame ${sequence}`;
  });
}

/**
 * @param {string} name
 * @param {string} sign
 * @param {string} label
 * @param {boolean} disabled
 * @param {() => void} click
 */
function action(name, sign, label, disabled, click) {
  return element("button", { class: "icon-button", "data-action": name, "aria-label": label,
    title: label, disabled, click }, sign);
}
