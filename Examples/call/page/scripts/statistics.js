/**
 * Latency and frames, live.
 *
 * @typedef {import("./commands.js").Commands} Commands
 */

import { byId, element } from "../shared/dom.js";

/** @type {[name: string, label: string, unit: string][]} */
const ROWS = [
  ["latency-p50", "Through Sidelight, median", "ms"],
  ["latency-p95", "Through Sidelight, 95 %", "ms"],
  ["server-p95", "Inside the server, 95 %", "ms"],
  ["rate", "Frames per second", ""],
  ["received", "Frames received", ""],
  ["filtered", "Filtered", ""],
  ["passed-through", "Passed through", ""],
  ["degraded", "Degraded", ""],
  ["dropped", "Dropped", ""],
];

/**
 * Shows the statistics that the call server sends.
 *
 * @param {Commands} commands
 */
export function showStatistics(commands) {
  const list = byId("statistics");
  const reasons = byId("dropped");
  list.replaceChildren();
  /** @type {Map<string, HTMLElement>} */
  const cells = new Map();
  for (const [name, label] of ROWS) {
    const cell = element("dd", { "data-stat": name }, "–");
    cells.set(name, cell);
    list.append(element("dt", {}, label), cell);
  }

  commands.addEventListener("stats", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    for (const [name, , unit] of ROWS) {
      const value = detail[name];
      const cell = /** @type {HTMLElement} */ (cells.get(name));
      if (value === null) continue;
      cell.dataset.value = value;
      cell.textContent = unit ? `${value.toFixed(1)} ${unit}` : value.toLocaleString("en");
    }
    const counts = Object.entries(detail.reasons);
    reasons.replaceChildren(...counts.flatMap(([reason, count]) => [
      element("dt", {}, reason.toLowerCase().replaceAll("_", " ")),
      element("dd", { "data-dropped": reason, "data-value": count }, count.toLocaleString("en")),
    ]));
    if (counts.length === 0) reasons.replaceChildren(element("dt", {}, "none"));
  });
}
