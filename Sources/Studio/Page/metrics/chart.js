/** The chart of the last ten seconds: the latency of every frame, and dropped frames. */

const SECONDS = 10;
/** The least range of the vertical axis, in milliseconds. */
const LEAST_RANGE_MS = 100;
const LEFT = 54, BOTTOM = 6, TOP = 8;
/** The height of the mark of a dropped frame, in pixels. */
const MARK = 12;

/**
 * @typedef {{atMs: number, value: number}} Entry
 *
 * @typedef {object} Content
 * @property {Entry[]} frames The latencies in milliseconds.
 * @property {Entry[]} drops The numbers of dropped frames.
 * @property {number} budgetMs 0: none.
 */

/** A chart on a canvas. */
export class Chart {
  #context;
  #style;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    this.#context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.#style = getComputedStyle(canvas);
  }

  /** @param {Content} content */
  draw({ frames, drops, budgetMs }) {
    const { canvas } = this;
    const ratio = devicePixelRatio;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!width) return;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = this.#context;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const now = performance.now();
    const largest = Math.max(LEAST_RANGE_MS, budgetMs * 1.2, ...frames.map(({ value }) => value));
    const range = roundedUp(largest);
    /** @param {number} atMs */
    const x = (atMs) => width - (now - atMs) / (SECONDS * 1000) * (width - LEFT);
    /** @param {number} value */
    const y = (value) => height - BOTTOM - value / range * (height - BOTTOM - TOP);

    this.#axis(range, width, y);
    if (budgetMs) this.#line(LEFT, width, y(budgetMs), this.#color("--chart-budget"), [5, 4]);
    context.fillStyle = this.#color("--chart-drop");
    for (const { atMs } of drops) {
      if (x(atMs) >= LEFT) context.fillRect(x(atMs) - 1, height - BOTTOM - MARK, 2, MARK);
    }
    context.fillStyle = this.#color("--chart-frame");
    for (const { atMs, value } of frames) {
      if (x(atMs) < LEFT) continue;
      context.beginPath();
      context.arc(x(atMs), y(value), 1.8, 0, 2 * Math.PI);
      context.fill();
    }
  }

  /** @param {number} range @param {number} width @param {(value: number) => number} y */
  #axis(range, width, y) {
    const context = this.#context;
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "right";
    context.textBaseline = "middle";
    for (const value of [0, range / 2, range]) {
      this.#line(LEFT, width, y(value), this.#color("--line"), []);
      context.fillStyle = this.#color("--muted");
      context.fillText(`${value} ms`, LEFT - 6, y(value));
    }
  }

  /**
   * @param {number} from
   * @param {number} to
   * @param {number} at
   * @param {string} color
   * @param {number[]} dashes
   */
  #line(from, to, at, color, dashes) {
    const context = this.#context;
    context.setLineDash(dashes);
    context.strokeStyle = color;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(from, Math.round(at) + 0.5);
    context.lineTo(to, Math.round(at) + 0.5);
    context.stroke();
    context.setLineDash([]);
  }

  /** @param {string} name */
  #color(name) {
    return this.#style.getPropertyValue(name);
  }
}

/**
 * Returns the next of 100, 200, 500, 1000, ...
 *
 * @param {number} value
 */
function roundedUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= value) ?? value;
}
