/**
 * The results of analyses, drawn over the picture: objects, lists of numbers, numbers and texts.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Analysis} Analysis
 */

import { words as spoken } from "../shared/dom.js";

/** The time for which a result is shown, unless a newer one comes, in milliseconds. */
const LIFETIME_MS = 1000;
const PADDING = 8, LINE = 17, BAR_HEIGHT = 46, BOX_WIDTH = 190;
/** The name of lists of coordinates: x, y, x, y, ... in pixels. */
const CORNERS = /corner|polygon|quad/i;
const MAX_FIGURES = 8;
const BOX = "#ffd54a", GROUND = "rgb(12 14 20 / 78%)", TEXT = "#ffffff";

/** The layer over the picture. */
export class AnalysisLayer {
  /** @type {Map<string, {analysis: Analysis, atMs: number}>} The newest result of every stage. */
  #results = new Map();
  #context;
  #isEmpty = true;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.#context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  }

  /** @param {Analysis} analysis */
  take(analysis) {
    this.#results.set(analysis.stage, { analysis, atMs: performance.now() });
  }

  /**
   * Draws the results.
   *
   * @param {{width: number, height: number}} frame The size of frames, in pixels.
   */
  draw(frame) {
    const now = performance.now();
    for (const [stage, { atMs }] of this.#results) {
      if (now - atMs > LIFETIME_MS) this.#results.delete(stage);
    }
    if (this.#isEmpty && !this.#results.size) return;
    const { canvas } = this;
    const ratio = devicePixelRatio;
    const { clientWidth: width, clientHeight: height } = canvas;
    const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== across || canvas.height !== down) {
      canvas.width = across;
      canvas.height = down;
    }
    const context = this.#context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const scale = { x: width / frame.width, y: height / frame.height };
    let top = PADDING;
    for (const { analysis } of this.#results.values()) top = this.#drawNumbers(analysis, top);
    for (const { analysis } of this.#results.values()) this.#drawObjects(analysis, scale);
    this.#isEmpty = this.#results.size === 0;
  }

  /** @param {Analysis} analysis @param {{x: number, y: number}} scale */
  #drawObjects({ detections, rows }, scale) {
    const context = this.#context;
    context.lineWidth = 2;
    context.strokeStyle = BOX;
    for (const { kind, trackingId, confidence, x, y, width, height } of detections) {
      context.strokeRect(x * scale.x, y * scale.y, width * scale.x, height * scale.y);
      const id = Number(trackingId) ? ` ${trackingId}` : "";
      this.#label(`${kind}${id} · ${Math.round(confidence * 100)} %`, x * scale.x, y * scale.y);
    }
    for (const [name, { values }] of rows) {
      if (!CORNERS.test(name)) continue;
      // Codes and faces have four corners.
      for (let start = 0; start + 8 <= values.length; start += 8) {
        context.beginPath();
        for (let at = start; at < start + 8; at += 2) {
          context.lineTo(values[at] * scale.x, values[at + 1] * scale.y);
        }
        context.closePath();
        context.stroke();
      }
    }
  }

  /** @param {Analysis} analysis @param {number} top @returns {number} The top of the next one. */
  #drawNumbers({ filter, figures, rows, words }, top) {
    const context = this.#context;
    const lists = byName(rows).filter(([name, { values }]) =>
      !CORNERS.test(name) && values.length > 1);
    const lines = [
      ...byName(figures).slice(0, MAX_FIGURES).map(([name, value]) =>
        `${spoken(name)}  ${shortened(value)}`),
      ...byName(words).slice(0, MAX_FIGURES).map(([name, text]) => `${spoken(name)}  ${text}`),
    ];
    if (!lists.length && !lines.length) return top;
    const height = LINE * (lines.length + 1) + lists.length * (BAR_HEIGHT + 4) + PADDING;
    context.fillStyle = GROUND;
    context.beginPath();
    context.roundRect(PADDING, top, BOX_WIDTH, height, 8);
    context.fill();
    context.fillStyle = TEXT;
    context.font = "600 12px system-ui, sans-serif";
    context.fillText(spoken(filter), 2 * PADDING, top + LINE - 2, BOX_WIDTH - 2 * PADDING);
    context.font = "12px system-ui, sans-serif";
    let y = top + 2 * LINE - 2;
    for (const line of lines) {
      context.fillText(line, 2 * PADDING, y, BOX_WIDTH - 2 * PADDING);
      y += LINE;
    }
    for (const [, { values }] of lists) {
      this.#bars(values, 2 * PADDING, y - LINE + 6, BOX_WIDTH - 2 * PADDING);
      y += BAR_HEIGHT + 4;
    }
    return top + height + PADDING;
  }

  /** @param {number[]} values @param {number} left @param {number} top @param {number} width */
  #bars(values, left, top, width) {
    const largest = Math.max(...values.map(Math.abs)) || 1;
    const step = width / values.length;
    this.#context.fillStyle = BOX;
    for (const [index, value] of values.entries()) {
      const height = Math.abs(value) / largest * BAR_HEIGHT;
      this.#context.fillRect(
        left + index * step, top + BAR_HEIGHT - height, Math.max(step - 0.5, 1), height);
    }
    this.#context.fillStyle = TEXT;
  }

  /** @param {string} text @param {number} x @param {number} y */
  #label(text, x, y) {
    const context = this.#context;
    context.font = "600 12px system-ui, sans-serif";
    const { width } = context.measureText(text);
    const top = Math.max(0, y - LINE - 3);
    context.fillStyle = GROUND;
    context.fillRect(x - 1, top, width + 12, LINE + 2);
    context.fillStyle = TEXT;
    context.fillText(text, x + 5, top + LINE - 4);
  }
}

/**
 * Returns the entries of a map of the server, whose order is random, in the order of their names.
 *
 * @template T
 * @param {Map<string, T>} entries
 * @returns {[string, T][]}
 */
function byName(entries) {
  return [...entries].sort(([one], [other]) => one.localeCompare(other));
}

/** @param {number} value */
function shortened(value) {
  return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}
