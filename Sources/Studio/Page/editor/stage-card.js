/**
 * A stage in the editor: its switch, position, mix, region and parameters.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 * @typedef {import("../sidelight/Generated/message-types.js").Stage} Stage
 * @typedef {import("../pipeline/catalogue.js").Catalogue} Catalogue
 * @typedef {import("../pipeline/selection.js").Selection} Selection
 * @typedef {import("../shared/controls.js").Context} Context
 */

import { element, icon, iconButton, rounded, words } from "../shared/dom.js";
import { parameterRow } from "../shared/controls.js";
import { stageText, textOf } from "../shared/text.js";

/**
 * @typedef {object} CardContext
 * @property {Catalogue} catalogue
 * @property {Selection} selection
 * @property {Omit<Context, "id"|"change">} controls
 * @property {(stage: Stage) => void} editRegion
 * @property {Set<Stage>} closed The stages whose parameters are hidden.
 */

/**
 * Returns the card of a stage.
 *
 * @param {Stage} stage
 * @param {number} index
 * @param {CardContext} context
 * @returns {HTMLLIElement}
 */
export function stageCard(stage, index, context) {
  const { catalogue, selection, controls, closed } = context;
  const filter = stage.filter && catalogue.filters.get(stage.filter.name);
  const name = stage.filter ? words(stage.filter.name) : "Group";
  const last = selection.stages.length - 1;
  const id = `stage-${index}-${stage.filter?.name ?? "group"}`;
  const body = element("div", { class: "stage-body", id: `${id}-body` });

  const isActive = element("input", { type: "checkbox", role: "switch", "data-action": "active",
    "aria-label": `${name} is on`, change: () => {
      selection.activate(stage, isActive.checked);
      card.classList.toggle("off", !isActive.checked);
    } });
  isActive.checked = stage.active !== false;

  const toggle = element("button", { type: "button", class: "stage-name", "data-action": "open",
    "aria-controls": body.id, "aria-expanded": String(!closed.has(stage)),
    title: filter?.summary ?? stageText(stage), click: () => {
      if (!closed.delete(stage)) closed.add(stage);
      body.hidden = closed.has(stage);
      toggle.setAttribute("aria-expanded", String(!body.hidden));
    } }, element("span", {}, name), icon("chevron"));

  const card = element("li", {
    class: `stage${stage.active === false ? " off" : ""}`,
    "data-stage": selection.pathOf(stage), "data-filter": stage.filter?.name ?? "",
  },
  element("div", { class: "stage-head" },
    element("span", { class: "grip", title: "Drag to move", "aria-hidden": "true" }, icon("grip")),
    isActive,
    element("div", { class: "stage-title" }, toggle,
      element("span", { class: "stage-time", "data-time": "" })),
    iconButton("up", `Move ${name} up`, { "data-action": "up", disabled: index === 0,
      click: () => selection.move(stage, index - 1) }),
    iconButton("down", `Move ${name} down`, { "data-action": "down", disabled: index === last,
      click: () => selection.move(stage, index + 1) }),
    iconButton("remove", `Remove ${name}`, { "data-action": "remove",
      click: () => selection.remove(stage) })),
  body);

  body.hidden = closed.has(stage);
  body.append(...parameters(), mixRow(), regionRow());
  return card;

  function parameters() {
    if (stage.pipeline) return [element("code", { class: "nested" }, textOf(stage.pipeline))];
    return (filter?.parameters ?? []).map((parameter) =>
      parameterRow(parameter, stage.filter?.parameters.get(parameter.name), {
        ...controls, id,
        change: (parameterName, value) => selection.set(stage, parameterName, value),
      }));
  }

  function mixRow() {
    return parameterRow(
      {
        name: "mix", kind: "NUMBER", unit: "UNSPECIFIED", choices: [], vectorLength: 0, assetKind: "",
        summary: "The weight of the stage's result; 0 shows only its input.",
        defaultValue: { number: 1 }, slider: { minimum: 0, maximum: 1 },
        limits: { minimum: 0, maximum: 1 },
      },
      stage.mix === undefined ? undefined : { number: stage.mix },
      { ...controls, id, change: (_, value) => selection.setMix(stage, value?.number ?? 1) });
  }

  function regionRow() {
    const text = stage.region ? regionText(stage) : "whole picture";
    return element("div", { class: "parameter parameter-region" },
      element("span", { class: "parameter-name" }, "Region"),
      element("span", { class: "hint", "data-region": "" }, text),
      element("button", { type: "button", class: "small", "data-action": "region",
        "aria-label": `Draw the region of ${name}`,
        click: () => context.editRegion(stage) }, icon("region"), "Draw"),
      ...(stage.region ? [element("button", { type: "button", class: "small",
        "data-action": "whole", "aria-label": `${name}: whole picture`,
        click: () => {
          selection.setRegion(stage, undefined);
          selection.dispatchEvent(new Event("change"));
        } }, "Whole")] : []));
  }
}

/** @param {Stage} stage */
function regionText({ region }) {
  if (!region) return "";
  const { origin, width, height } = region;
  /** @param {{value: number, unit: unknown}} [length] */
  const percent = (length) => {
    if (!length) return "0";
    return length.unit === "PIXELS" || length.unit === "UNSPECIFIED"
      ? `${rounded(length.value)} px` : `${rounded(length.value * 100)} %`;
  };
  return `${percent(width)} × ${percent(height)} at ${percent(origin?.x)}, ${percent(origin?.y)}`;
}
