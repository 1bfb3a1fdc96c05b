/**
 * The pipeline that the user edits, and its changes at the server.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 * @typedef {import("../sidelight/Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("../sidelight/Generated/message-types.js").Region} Region
 * @typedef {import("../sidelight/Generated/message-types.js").Stage} Stage
 * @typedef {import("../sidelight/connection.js").Connection} Connection
 */

import { RpcError } from "../sidelight/index.js";
import { stageText, textOf } from "../shared/text.js";

/** The texts of earlier pipelines that `undo` knows. */
const MAX_HISTORY = 100;

/**
 * The selected pipeline. Dispatches `change` when stages came or went, or were replaced; `values`
 * when parameters of a stage changed; `refused` with an {@link RpcError}; and `accepted`.
 */
export class Selection extends EventTarget {
  /** @type {Pipeline} */
  pipeline = { stages: [], workingSpace: "UNSPECIFIED" };
  /** @type {Stage[]} Stages that follow the user's, such as the stages of slow motion. */
  #appended = [];
  /** @type {Connection|null} */
  #connection = null;
  /** @type {Map<string, Map<string, ParameterValue>>} Parameters that were not sent yet. */
  #updates = new Map();
  #mustSelect = false;
  #scheduled = 0;
  /** Whether the server has refused the last selection: changes are then sent as a whole. */
  #isRefused = false;
  /** @type {Pipeline[]} */
  #history = [];
  /** @type {Pipeline|null} The last pipeline that the server accepted. */
  #accepted = null;

  /** @param {Connection} connection */
  attach(connection) {
    this.#connection = connection;
    connection.addEventListener("opened", () => {
      this.#mustSelect = true;
      this.#schedule();
    });
    connection.addEventListener("accepted", () => {
      this.#isRefused = false;
      this.#accepted = structuredClone(this.whole);
      this.dispatchEvent(new Event("accepted"));
    });
    connection.addEventListener("refused", (event) => {
      const { error } = /** @type {CustomEvent<{error: RpcError}>} */ (event).detail;
      this.#isRefused = true;
      this.dispatchEvent(new CustomEvent("refused", { detail: error }));
    });
  }

  get stages() {
    return this.pipeline.stages;
  }

  get text() {
    return textOf(this.pipeline);
  }

  /** The pipeline with the appended stages. */
  get whole() {
    return { ...this.pipeline, stages: [...this.stages, ...this.#appended] };
  }

  /** The last pipeline that the server accepted; for a session that is opened again. */
  get accepted() {
    return this.#accepted ?? this.whole;
  }

  /**
   * Whether the pipeline has an active stage of a filter.
   *
   * @param {string} filter
   * @param {Stage[]} [stages]
   * @returns {boolean}
   */
  isActive(filter, stages = this.stages) {
    return stages.some((stage) => stage.active !== false
      && (stage.filter?.name === filter || this.isActive(filter, stage.pipeline?.stages ?? [])));
  }

  /**
   * The name by which the server addresses a stage.
   *
   * @param {Stage} stage
   */
  pathOf(stage) {
    return stage.id || `stages[${this.stages.indexOf(stage)}]`;
  }

  /** @param {Pipeline} pipeline */
  replace(pipeline) {
    this.#remember();
    this.pipeline = pipeline;
    this.#changed();
  }

  /**
   * Adds a filter.
   *
   * @param {string} name
   * @param {Map<string, ParameterValue>} parameters
   * @param {number} [index] The position; default: the end.
   * @returns {Stage}
   */
  add(name, parameters, index = this.stages.length) {
    this.#remember();
    /** @type {Stage} */
    const stage = { id: "", failurePolicy: "UNSPECIFIED", filter: { name, parameters } };
    this.stages.splice(index, 0, stage);
    this.#changed();
    return stage;
  }

  /** @param {Stage} stage */
  remove(stage) {
    this.#remember();
    this.stages.splice(this.stages.indexOf(stage), 1);
    this.#changed();
  }

  clear() {
    this.replace({ stages: [], workingSpace: "UNSPECIFIED" });
  }

  /** @param {Stage} stage @param {number} index The position among the other stages. */
  move(stage, index) {
    const from = this.stages.indexOf(stage);
    const to = Math.max(0, Math.min(this.stages.length - 1, index));
    if (from === to) return;
    this.#remember();
    this.stages.splice(from, 1);
    this.stages.splice(to, 0, stage);
    this.#changed();
  }

  /**
   * Sets a parameter, or removes it so that its default applies.
   *
   * @param {Stage} stage
   * @param {string} name
   * @param {ParameterValue|undefined} value
   */
  set(stage, name, value) {
    const parameters = stage.filter?.parameters;
    if (!parameters) return;
    if (!value) {
      parameters.delete(name);
      return this.#valuesChanged();
    }
    const isNew = !parameters.has(name);
    parameters.set(name, value);
    const path = this.pathOf(stage);
    if (!this.#updates.has(path)) this.#updates.set(path, new Map());
    this.#updates.get(path)?.set(name, value);
    this.#schedule();
    this.dispatchEvent(new CustomEvent("values", { detail: { isNew } }));
  }

  /** @param {Stage} stage @param {boolean} isActive */
  activate(stage, isActive) {
    stage.active = isActive ? undefined : false;
    const session = this.#connection?.session;
    this.#flush();
    if (this.#isRefused) this.#mustSelect = true;
    else if (session?.opened) session.activate(this.pathOf(stage), isActive);
    this.#schedule();
    this.dispatchEvent(new CustomEvent("values", { detail: {} }));
  }

  /** @param {Stage} stage @param {number} mix 0-1. */
  setMix(stage, mix) {
    stage.mix = mix === 1 ? undefined : mix;
    this.#valuesChanged();
  }

  /** @param {Stage} stage @param {Region|undefined} region */
  setRegion(stage, region) {
    stage.region = region;
    this.#valuesChanged();
  }

  /**
   * Replaces the stages that follow the user's.
   *
   * @param {Stage[]} stages
   */
  append(stages) {
    this.#appended = stages;
    this.#mustSelect = true;
    this.#schedule();
  }

  /** Returns to the pipeline before the last change of stages. Returns whether there was one. */
  undo() {
    const earlier = this.#history.pop();
    if (!earlier) return false;
    this.pipeline = earlier;
    this.#changed();
    return true;
  }

  /** Selects the pipeline again, for instance because an asset has come. */
  repeat() {
    this.#mustSelect = true;
    this.#schedule();
  }

  /** @param {Stage} stage */
  textOfStage(stage) {
    return stageText(stage);
  }

  #remember() {
    this.#history.push(structuredClone(this.pipeline));
    if (this.#history.length > MAX_HISTORY) this.#history.shift();
  }

  #changed() {
    this.#mustSelect = true;
    this.#schedule();
    this.dispatchEvent(new Event("change"));
  }

  #valuesChanged() {
    this.#mustSelect = true;
    this.#schedule();
    this.dispatchEvent(new CustomEvent("values", { detail: {} }));
  }

  /** Sends the changes with the next picture of the screen: a slider moves more often. */
  #schedule() {
    this.#scheduled ||= requestAnimationFrame(() => this.#flush());
  }

  #flush() {
    cancelAnimationFrame(this.#scheduled);
    this.#scheduled = 0;
    const session = this.#connection?.session;
    if (!session?.opened) return;
    if (this.#mustSelect || (this.#isRefused && this.#updates.size)) session.select(this.whole);
    else if (this.#updates.size) session.update(this.#updates);
    this.#mustSelect = false;
    this.#updates = new Map();
  }
}
