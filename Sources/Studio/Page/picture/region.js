/**
 * The region of a stage, drawn in the picture, and positions that are picked there.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Region} Region
 * @typedef {import("../sidelight/Generated/message-types.js").Stage} Stage
 * @typedef {import("../pipeline/selection.js").Selection} Selection
 */

import { announce, byId } from "../shared/dom.js";

const KEY_STEP = 0.02;
/** The smallest width and height of a region, as a part of the picture. */
const SMALLEST = 0.02;

/** @typedef {{x: number, y: number, width: number, height: number}} Box Parts of the picture. */

/** The user's marks in the picture. */
export class PictureMarks {
  #screen = byId("screen");
  #box = byId("region");
  #hint = byId("pick-hint");
  /** @type {Stage|null} */
  #stage = null;
  /** @type {AbortController} */
  #mode = new AbortController();
  #selection;

  /** @param {Selection} selection */
  constructor(selection) {
    this.#selection = selection;
    this.#box.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    selection.addEventListener("change", () => {
      if (this.#stage && !selection.stages.includes(this.#stage)) this.end();
    });
  }

  /**
   * Lets the user draw the region of a stage.
   *
   * @param {Stage} stage
   */
  editRegion(stage) {
    this.#begin("Drag over the picture to draw the region. Enter or Escape ends.");
    this.#stage = stage;
    this.#show(boxOf(stage.region, this.#screen) ?? { x: 0.25, y: 0.25, width: 0.5, height: 0.5 });
    this.#box.hidden = false;
    this.#box.focus({ preventScroll: true });
    this.#screen.scrollIntoView({ block: "nearest" });
    const { signal } = this.#mode;
    /** @type {{x: number, y: number}|null} */
    let start = null;
    this.#screen.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      start = this.#place(event);
      this.#screen.setPointerCapture(event.pointerId);
      event.preventDefault();
    }, { signal });
    this.#screen.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
      if (!start) return;
      const end = this.#place(event);
      this.#set({
        x: Math.min(start.x, end.x), y: Math.min(start.y, end.y),
        width: Math.max(SMALLEST, Math.abs(end.x - start.x)),
        height: Math.max(SMALLEST, Math.abs(end.y - start.y)),
      });
    }, { signal });
    this.#screen.addEventListener("pointerup", () => {
      if (start) this.end();
    }, { signal });
  }

  /**
   * Lets the user pick a position.
   *
   * @param {(x: number, y: number) => void} onPoint
   */
  pickPoint(onPoint) {
    this.#begin("Click in the picture to pick the position. Escape ends.");
    const { signal } = this.#mode;
    this.#screen.scrollIntoView({ block: "nearest" });
    this.#screen.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
      const { x, y } = this.#place(event);
      this.end();
      onPoint(x, y);
    }, { signal });
  }

  /** Ends drawing or picking. */
  end() {
    const wasRegion = this.#stage !== null;
    this.#mode.abort();
    this.#stage = null;
    this.#box.hidden = true;
    this.#hint.hidden = true;
    this.#screen.classList.remove("marking");
    // The cards show the new region.
    if (wasRegion) this.#selection.dispatchEvent(new Event("change"));
  }

  /** @param {string} hint */
  #begin(hint) {
    if (!this.#mode.signal.aborted) this.end();
    this.#mode = new AbortController();
    this.#screen.classList.add("marking");
    this.#hint.textContent = hint;
    this.#hint.hidden = false;
    announce(hint);
    addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.end();
    }, { signal: this.#mode.signal });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.key === "Enter") return this.end();
    /** @type {Record<string, [number, number]>} */
    const steps = {
      ArrowLeft: [-KEY_STEP, 0], ArrowRight: [KEY_STEP, 0], ArrowUp: [0, -KEY_STEP],
      ArrowDown: [0, KEY_STEP],
    };
    const step = steps[event.key];
    const box = boxOf(this.#stage?.region, this.#screen)
      ?? { x: 0.25, y: 0.25, width: 0.5, height: 0.5 };
    if (!step) return;
    event.preventDefault();
    this.#set(event.shiftKey
      ? { ...box, width: Math.max(SMALLEST, box.width + step[0]),
        height: Math.max(SMALLEST, box.height + step[1]) }
      : { ...box, x: box.x + step[0], y: box.y + step[1] });
  }

  /** @param {Box} box */
  #set(box) {
    const x = Math.min(1 - SMALLEST, Math.max(0, box.x));
    const y = Math.min(1 - SMALLEST, Math.max(0, box.y));
    const whole = { x, y, width: Math.min(1 - x, box.width), height: Math.min(1 - y, box.height) };
    this.#show(whole);
    if (this.#stage) this.#selection.setRegion(this.#stage, regionOf(whole));
  }

  /** @param {Box} box */
  #show({ x, y, width, height }) {
    const { style } = this.#box;
    [style.left, style.top, style.width, style.height] =
      [x, y, width, height].map((part) => `${part * 100}%`);
  }

  /** @param {PointerEvent} event */
  #place({ clientX, clientY }) {
    const { left, top, width, height } = this.#screen.getBoundingClientRect();
    const clamp = (/** @type {number} */ part) => Math.min(1, Math.max(0, part));
    return { x: clamp((clientX - left) / width), y: clamp((clientY - top) / height) };
  }
}

/** @param {Box} box @returns {Region} */
function regionOf({ x, y, width, height }) {
  /** @param {number} value @param {"WIDTH"|"HEIGHT"} unit */
  const length = (value, unit) => ({ value: Math.round(value * 1000) / 1000, unit });
  return {
    origin: { x: length(x, "WIDTH"), y: length(y, "HEIGHT") },
    width: length(width, "WIDTH"), height: length(height, "HEIGHT"),
  };
}

/** @param {Region|undefined} region @param {HTMLElement} screen @returns {Box|undefined} */
function boxOf(region, screen) {
  if (!region) return undefined;
  const { width, height } = /** @type {HTMLCanvasElement} */ (screen.querySelector("canvas"));
  /** @type {Record<string, number>} */
  const pixels = { WIDTH: width, HEIGHT: height, SHORT_SIDE: Math.min(width, height) };
  /** @param {{value: number, unit: string|number}|undefined} length @param {number} whole */
  const part = (length, whole) => (length?.value ?? 0) * (pixels[length?.unit ?? ""] ?? 1) / whole;
  return {
    x: part(region.origin?.x, width), y: part(region.origin?.y, height),
    width: part(region.width, width), height: part(region.height, height),
  };
}
