/**
 * The parameters that have an effect only with some values of another one.
 *
 * @typedef {import("./types.js").Stage} Stage
 * @typedef {import("./catalogue.js").Catalogue} Catalogue
 */

import { unquoted } from "../shared/quoting.js";

const FACES = ["face", "eyes", "forehead", "mouth"];
/** @type {Record<string, string[]>} */
const MATTE = { plate: ["plate"], color: ["key"] };

/**
 * By filter and deciding parameter: the values of that with which a parameter has an effect.
 *
 * @type {Record<string, Record<string, Record<string, string[]>>>}
 */
const CONDITIONS = {
  overlay: {
    anchor: {
      origin: ["frame"], width: ["frame"], height: ["frame"], offset: ["frame"], fit: ["frame"],
      faceOffset: FACES, which: FACES, id: FACES, rotate: FACES, fade: FACES,
    },
    which: { id: ["id"] },
  },
  backgroundBlur: { matte: MATTE },
  virtualBackground: { matte: MATTE },
};

/**
 * Returns whether a parameter of a stage has an effect.
 *
 * @param {Stage} stage
 * @param {string} name
 * @param {Catalogue} catalogue
 */
export function isRelevant({ filter, values }, name, catalogue) {
  return Object.entries(CONDITIONS[filter] ?? {}).every(([deciding, conditions]) => {
    const preset = catalogue.parameter(filter, deciding)?.defaultValue?.text ?? "";
    return conditions[name]?.includes(unquoted(values.get(deciding) ?? preset)) ?? true;
  });
}
