/**
 * Slow motion: heavy stages behind those of the user, which overload the session. They are mixed
 * into the picture so weakly that they do not change it visibly.
 *
 * @typedef {import("../protocol/Generated/message-types.js").Stage} Stage
 * @typedef {import("../pipeline/selection.js").Selection} Selection
 */

import { byId } from "../dom.js";

const MIX = 0.01;

/** @param {Selection} selection */
export function showSlowMotion(selection) {
  const slider = byId("slow-motion");
  const output = byId("slow-motion-value");
  slider.oninput = () => {
    const count = Number(slider.value);
    output.value = count === 0 ? "off" : `${count} heavy ${count === 1 ? "stage" : "stages"}`;
    slider.setAttribute("aria-valuetext", output.value);
    selection.append(Array.from({ length: count }, heavyStage));
  };
  slider.ondblclick = () => {
    slider.value = "0";
    slider.oninput();
  };
}

/** @returns {Stage} */
function heavyStage() {
  return {
    id: "", failurePolicy: "UNSPECIFIED", mix: MIX,
    filter: { name: "median", parameters: new Map() },
  };
}
