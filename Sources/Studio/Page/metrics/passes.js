/**
 * The passes that the pipeline compiles to, with the time of each stage.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").CompiledPass} CompiledPass
 * @typedef {import("../sidelight/Generated/message-types.js").Stage} Stage
 * @typedef {import("../pipeline/selection.js").Selection} Selection
 */

import { byId, element, rounded } from "../shared/dom.js";
import { server } from "../server.js";
import { StageTimer } from "./stage-times.js";

/** The time without changes after which the stages are measured. */
const DELAY_MS = 700;

/**
 * Shows the passes, and the times on the cards of the stages.
 *
 * @param {Selection} selection
 * @param {() => {width: number, height: number}} frameSize
 * @param {() => Promise<Uint8Array>} frame The newest frame as JPEG.
 */
export function showPasses(selection, frameSize, frame) {
  const list = byId("passes");
  const hint = byId("passes-hint");
  const timer = new StageTimer();
  let timeout = 0;
  /** @type {Map<Stage, number>} */
  const times = new Map();

  async function update() {
    const { pipeline } = selection;
    try {
      const { passes } = await server.checkPipeline({ pipeline, format: "I420", ...frameSize() });
      show(grouped(passes, pipeline.stages), null);
      const measured = await timer.measure(structuredClone(pipeline), await frame());
      if (!measured || pipeline !== selection.pipeline) return;
      times.clear();
      for (const [index, time] of measured.stages.entries()) {
        times.set(pipeline.stages[index], time);
      }
      showTimes();
      show(grouped(passes, pipeline.stages), measured.codec);
    } catch {
      // The editor shows why a pipeline is refused.
      list.replaceChildren();
      hint.textContent = "";
    }
  }

  /** @param {Group[]} groups @param {number|null} codec */
  function show(groups, codec) {
    list.replaceChildren(...groups.map(({ names, descriptions, stages }) => {
      const time = [...stages].reduce((sum, stage) => sum + (times.get(stage) ?? 0), 0);
      const isKnown = [...stages].every((stage) => times.has(stage));
      return element("li", { class: "pass" },
        element("span", { class: "pass-name" }, names.join(" + ")),
        element("span", { class: "pass-description" },
          descriptions.map(withShortNumbers).join("; ")),
        element("span", { class: "pass-time", "data-time": isKnown ? time : null },
          isKnown ? milliseconds(time) : ""));
    }));
    if (!groups.length) {
      list.append(element("li", { class: "pass hint" }, "none: frames pass through unchanged"));
    }
    const { width, height } = frameSize();
    hint.textContent = codec === null ? `${width} × ${height}`
      : `${width} × ${height}, and ${milliseconds(codec)} for JPEG`;
  }

  function showTimes() {
    for (const [index, card] of [...byId("stages").children].entries()) {
      const time = times.get(selection.stages[index]);
      const label = card.querySelector(".stage-time");
      if (label) label.textContent = time === undefined ? "" : milliseconds(time);
    }
  }

  function schedule() {
    clearTimeout(timeout);
    timeout = window.setTimeout(update, DELAY_MS);
  }
  selection.addEventListener("change", () => {
    showTimes();
    schedule();
  });
  selection.addEventListener("values", schedule);
  schedule();
  return { update: schedule };
}

/**
 * @typedef {object} Group Successive passes that share stages.
 * @property {string[]} names
 * @property {string[]} descriptions
 * @property {Set<Stage>} stages
 */

/**
 * Returns the passes in groups, each with its stages. A pass can compute several stages, and a
 * stage can take several passes.
 *
 * @param {CompiledPass[]} passes
 * @param {Stage[]} stages
 * @returns {Group[]}
 */
export function grouped(passes, stages) {
  const rest = stages.filter(({ active }) => active !== false)
    .flatMap((stage) => namesOf(stage).map((name) => ({ name, stage })));
  /** @type {Group[]} */
  const groups = [];
  for (const { name, filters, description } of passes) {
    const last = groups.at(-1);
    /** @type {Set<Stage>} */
    const own = new Set();
    for (const filter of filters) {
      const index = rest.findIndex((each) => each.name === filter);
      if (index >= 0) own.add(rest.splice(0, index + 1)[index].stage);
    }
    const isContinued = last
      && (own.size === 0 || [...own].some((stage) => last.stages.has(stage)));
    if (isContinued) {
      last.descriptions.push(description);
      for (const stage of own) last.stages.add(stage);
      last.names.push(...filters.filter((filter) => !last.names.includes(filter)));
    } else {
      groups.push({
        names: filters.length ? [...new Set(filters)] : [name],
        descriptions: [description],
        stages: own,
      });
    }
  }
  return groups;
}

/** @param {Stage} stage @returns {string[]} */
function namesOf({ filter, pipeline }) {
  if (filter) return [filter.name];
  return (pipeline?.stages ?? []).flatMap(namesOf);
}

/** @param {string} text */
function withShortNumbers(text) {
  return text.replace(/\d+\.\d{3,}/g, (number) => String(rounded(Number(number))));
}

/** @param {number} value */
function milliseconds(value) {
  return value < 0.05 ? "< 0.1 ms" : `${value.toFixed(1)} ms`;
}
