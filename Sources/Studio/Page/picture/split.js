/**
 * The line between the unfiltered and the filtered picture.
 *
 * @typedef {import("./view.js").View} View
 */

import { byId } from "../shared/dom.js";

const KEY_STEP = 0.02;

/** @param {View} view */
export function showSplit(view) {
  const screen = byId("screen");
  const line = byId("split");
  const button = byId("toggle-split");

  /** @param {number} position 0-1. */
  function moveTo(position) {
    view.split = Math.min(1, Math.max(0, position));
    // The handle stays within the picture.
    line.style.left = `clamp(16px, ${view.split * 100}%, 100% - 16px)`;
    line.setAttribute("aria-valuenow", String(Math.round(view.split * 100)));
    line.setAttribute("aria-valuetext", `${Math.round(view.split * 100)} % original`);
    view.draw();
  }

  button.onclick = () => {
    const isOn = view.split === null;
    button.setAttribute("aria-pressed", String(isOn));
    line.hidden = !isOn;
    if (isOn) {
      moveTo(0.5);
      line.focus({ preventScroll: true });
    } else {
      view.split = null;
      view.draw();
    }
  };

  line.onpointerdown = (/** @type {PointerEvent} */ event) => {
    line.setPointerCapture(event.pointerId);
    event.preventDefault();
    line.focus({ preventScroll: true });
  };
  line.onpointermove = (/** @type {PointerEvent} */ event) => {
    if (!line.hasPointerCapture(event.pointerId)) return;
    const { left, width } = screen.getBoundingClientRect();
    moveTo((event.clientX - left) / width);
  };
  line.onkeydown = (/** @type {KeyboardEvent} */ event) => {
    const position = view.split ?? 0.5;
    const step = event.shiftKey ? 5 * KEY_STEP : KEY_STEP;
    /** @type {Record<string, number>} */
    const positions = {
      ArrowLeft: position - step, ArrowDown: position - step,
      ArrowRight: position + step, ArrowUp: position + step, Home: 0, End: 1,
    };
    if (!(event.key in positions)) return;
    event.preventDefault();
    moveTo(positions[event.key]);
  };
}
