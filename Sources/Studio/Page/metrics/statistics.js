/**
 * Latency, frame rate, bytes and dropped frames, as they happen.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Dropped} Dropped
 * @typedef {import("../picture/view.js").Shown} Shown
 */

import { byId, element } from "../shared/dom.js";
import { Chart } from "./chart.js";
import { reasonText } from "./drops.js";
import { TimeWindow } from "./window.js";

const FIGURES_MS = 5000, CHART_MS = 10_000, RATE_MS = 2000;
/** The time between two updates of the figures, and between two lines of the log. */
const UPDATE_MS = 500, LOG_MS = 2000;
const MAX_LOG_LINES = 30;

/** The statistics of the page. */
export class Statistics {
  /** The budget in milliseconds; 0: none. */
  budgetMs = 150;
  #latencies = new TimeWindow(FIGURES_MS);
  #chartLatencies = new TimeWindow(CHART_MS);
  #chartDrops = new TimeWindow(CHART_MS);
  #serverTimes = new TimeWindow(FIGURES_MS);
  #shown = new TimeWindow(RATE_MS);
  #dropped = new TimeWindow(RATE_MS);
  #droppedByServer = new TimeWindow(RATE_MS);
  /** The bytes of frames, and the number of key frames, in each direction. */
  #bytes = { sent: new TimeWindow(RATE_MS), received: new TimeWindow(RATE_MS) };
  #keyFrames = { sent: 0, received: 0 };
  /** @type {Map<string, number>} The number of dropped frames by reason. */
  #counts = new Map();
  /** @type {Map<string, number>} Those since the last line of the log. */
  #news = new Map();
  #chart = new Chart(byId("chart"));

  constructor() {
    setInterval(() => this.#update(), UPDATE_MS);
    setInterval(() => this.#log(), LOG_MS);
    const draw = () => {
      requestAnimationFrame(draw);
      this.#draw();
    };
    draw();
  }

  /** Whether the server dropped frames in the last two seconds. */
  get isOverloaded() {
    return this.#droppedByServer.rate() > 1;
  }

  /** @param {Shown} shown */
  show({ capturedMs, shownMs, outcome }) {
    const latency = shownMs - capturedMs;
    this.#latencies.add(latency);
    this.#chartLatencies.add(latency);
    this.#shown.add(1);
    if (outcome.timing) this.#serverTimes.add(outcome.timing.totalUs / 1000);
  }

  /** @param {Dropped} dropped */
  drop({ reason, count }) {
    this.#droppedByServer.add(count);
    this.#count(String(reason), count);
  }

  /**
   * Counts a frame of a direction.
   *
   * @param {"sent"|"received"} direction
   * @param {number} bytes
   * @param {boolean|undefined} isKeyFrame
   */
  transfer(direction, bytes, isKeyFrame) {
    this.#bytes[direction].add(bytes);
    if (isKeyFrame) this.#keyFrames[direction] += 1;
  }

  /** Counts a picture that was not sent, because the server did not accept it. */
  skip() {
    this.#count("NOT_SENT", 1);
  }

  /** @param {string} reason @param {number} count */
  #count(reason, count) {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count);
    this.#news.set(reason, (this.#news.get(reason) ?? 0) + count);
    this.#dropped.add(count);
    this.#chartDrops.add(count);
  }

  #update() {
    const [p50, p95] = this.#latencies.percentiles([0.5, 0.95]);
    const [server] = this.#serverTimes.percentiles([0.5]);
    setFigure("latency-p50", p50, "ms");
    setFigure("latency-p95", p95, "ms");
    setFigure("server-time", server, "ms");
    setFigure("fps", this.#shown.rate(), "fps");
    setFigure("drop-rate", this.#dropped.rate(), "per s");
    setFigure("sent-rate", this.#bytes.sent.rate() / 1000, "kB/s");
    setFigure("received-rate", this.#bytes.received.rate() / 1000, "kB/s");
    setFigure("key-frames-sent", this.#keyFrames.sent, "");
    setFigure("key-frames-received", this.#keyFrames.received, "");
    const list = byId("drop-counts");
    const reasons = [...this.#counts].sort(([, one], [, other]) => other - one);
    list.replaceChildren(...reasons.map(([reason, count]) =>
      element("li", { "data-reason": reason, "data-count": count },
        element("b", {}, String(count)), ` ${reasonText(reason)}`)));
  }

  /** Adds a line for the frames that were dropped since the last one. */
  #log() {
    if (!this.#news.size) return;
    const parts = [...this.#news].map(([reason, count]) => `${count} × ${reasonText(reason)}`);
    this.#news.clear();
    const list = byId("drop-log");
    const time = new Date().toLocaleTimeString();
    list.append(element("li", {}, element("time", {}, time), ` ${parts.join(", ")}`));
    while (list.children.length > MAX_LOG_LINES) list.firstElementChild.remove();
    list.scrollTop = list.scrollHeight;
  }

  #lastDrawnMs = 0;

  #draw() {
    // Twenty pictures a second are enough for a chart.
    const now = performance.now();
    if (now - this.#lastDrawnMs < 50) return;
    this.#lastDrawnMs = now;
    this.#chart.draw({
      frames: this.#chartLatencies.entries(), drops: this.#chartDrops.entries(),
      budgetMs: this.budgetMs,
    });
  }
}

/** @param {string} id @param {number} value @param {string} unit */
function setFigure(id, value, unit) {
  const figure = byId(id);
  figure.dataset.value = String(value);
  if (Number.isNaN(value)) return figure.replaceChildren("–");
  const shown = value < 10 && ["ms", "kB/s"].includes(unit) ? value.toFixed(1) : String(Math.round(value));
  figure.replaceChildren(shown, element("span", { class: "figure-unit" }, ` ${unit}`));
}
