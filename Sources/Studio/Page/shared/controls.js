/**
 * Controls for the parameters of a stage, from their descriptions.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Asset} Asset
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterDescription
 * } ParameterDescription
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 */

import { element, iconButton, words } from "./dom.js";
import { valueText } from "./text.js";
import {
  assetControl, choiceControl, colorControl, flagControl, readOnlyControl, textControl,
  vectorControl,
} from "./plain-controls.js";
import { lengthControl, numberControl, pointControl } from "./slider-controls.js";

/**
 * @typedef {object} Context
 * @property {string} id A prefix for IDs, unique in the page.
 * @property {() => {width: number, height: number}} frameSize
 * @property {() => Pick<Asset, "name"|"kind">[]} assets
 * @property {() => void} [addAsset] Opens the choice of a file.
 * @property {(onPoint: (x: number, y: number) => void) => void} [pickPoint] Lets the user pick a
 *   position in the picture; the coordinates are 0-1.
 * @property {(name: string, value: ParameterValue|undefined) => void} change Called for each new
 *   value; `undefined` is the default.
 *
 * @typedef {object} Control
 * @property {HTMLElement[]} elements
 * @property {(value: ParameterValue) => void} show Shows another value.
 *
 * @typedef {(parameter: ParameterDescription, value: ParameterValue, id: string,
 *   change: (value: ParameterValue) => void, context: Context) => Control} ControlFactory
 */

/** @type {Record<string, ControlFactory>} */
const FACTORIES = {
  NUMBER: numberControl, LENGTH: lengthControl, POINT: pointControl, COLOR: colorControl,
  VECTOR: vectorControl, FLAG: flagControl, CHOICE: choiceControl, ASSET: assetControl,
  TEXT: textControl,
};

/**
 * Returns the row of a parameter: its label, a button that resets it, and its control. A double
 * click on the label or on a slider resets it too.
 *
 * @param {ParameterDescription} parameter
 * @param {ParameterValue|undefined} current `undefined`: the default.
 * @param {Context} context
 * @returns {HTMLElement}
 */
export function parameterRow(parameter, current, context) {
  const id = `${context.id}-${parameter.name}`;
  const preset = parameter.defaultValue;
  // A newer server may have other kinds.
  const factory = FACTORIES[parameter.kind] ?? readOnlyControl;
  const reset = iconButton("reset", `Reset ${words(parameter.name)}`, {
    class: "icon-button reset", "data-action": "reset", click: toDefault,
  });
  const row = element("div", {
    class: `parameter parameter-${String(parameter.kind).toLowerCase()}`,
    "data-parameter": parameter.name,
  });
  const control = factory(parameter, current ?? preset ?? {}, id, (value) => {
    mark(value);
    context.change(parameter.name, value);
  }, context);
  const label = element("label", { for: id, title: parameter.summary, dblclick: toDefault },
    words(parameter.name));
  row.append(label, reset, ...control.elements);
  for (const slider of row.querySelectorAll("input[type=range]")) {
    slider.addEventListener("dblclick", toDefault);
  }
  mark(current);

  function toDefault() {
    if (!preset) return;
    control.show(preset);
    mark(undefined);
    context.change(parameter.name, undefined);
  }

  /** @param {ParameterValue|undefined} value */
  function mark(value) {
    const isDefault = !value || (preset && valueText(value) === valueText(preset));
    row.classList.toggle("changed", !isDefault);
    reset.hidden = Boolean(isDefault) || !preset;
  }
  return row;
}
