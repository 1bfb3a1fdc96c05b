/**
 * Slow motion: heavy stages behind the user's, which overload the session. They change the
 * colours by less than a bit of the picture.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Stage} Stage
 * @typedef {import("../pipeline/selection.js").Selection} Selection
 */

import { byId } from "../shared/dom.js";

/**
 * A kernel that computes this number of sines in turn for each channel: half of the time that the
 * server allows a kernel per pixel.
 */
const SINES = 20;
const SOURCE =
  `color.rgb + 0.000001 * ${"sin(".repeat(SINES)}color.rgb${")".repeat(SINES)}`;

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
    id: "", failurePolicy: "UNSPECIFIED",
    filter: { name: "kernel", parameters: new Map([["source", { text: SOURCE }]]) },
  };
}
