/**
 * The selected pipeline: the state of the server, and the commands that change it.
 *
 * @typedef {import("./commands.js").Commands} Commands
 * @typedef {import("./types.js").CommandError} CommandError
 * @typedef {import("./types.js").Stage} Stage
 * @typedef {import("./types.js").Value} Value
 *
 * @typedef {{id?: string, values?: Record<string, string>, isFirst?: boolean}} NewStage
 */

import { Refusal } from "./commands.js";
import { valueText } from "../shared/text.js";
import { format, parse } from "./pipeline.js";
import { Span, now } from "./trace.js";

/** Traces that wait for their frame. */
const MAX_TRACES = 16;

/**
 * The selection. Dispatches `change` after another pipeline was accepted, `values` after a change
 * of parameters or activation, `applied` when a revision is in force, and `refusal`.
 */
export class Selection extends EventTarget {
  text = "";
  space = "";
  /** @type {Stage[]} */
  stages = [];
  /** @type {Map<number, Span>} Spans of changes that no frame shows yet, by revision. */
  #spans = new Map();
  /** The last revision that a frame showed, and the time at which the page learned of it. */
  #applied = { revision: 0, time: 0 };
  /** @type {Map<string, {stage: Stage, values: Record<string, Value>}>} */
  #updates = new Map();
  #isUpdating = false;
  /** @type {Promise<unknown>} The last change; the next one begins after it. */
  #last = Promise.resolve();
  /** @type {Commands} */
  #commands;

  /** @param {Commands} commands */
  constructor(commands) {
    super();
    this.#commands = commands;
    commands.addEventListener("applied", (event) =>
      this.#onApplied(/** @type {CustomEvent} */ (event).detail));
    commands.addEventListener("pipeline", (event) =>
      this.#take(/** @type {CustomEvent} */ (event).detail.text));
  }

  /**
   * Returns the first stage of a filter, or the stage with an ID.
   *
   * @param {{filter?: string, id?: string}} wanted
   */
  find({ filter, id }) {
    return this.stages.find((stage) => (id ? stage.id === id : stage.filter === filter));
  }

  /**
   * Returns whether the pipeline has an active stage of a filter.
   *
   * @param {string} filter
   */
  isActive(filter) {
    return this.stages.some((stage) =>
      stage.active && (stage.filter === filter || stage.content.includes(filter)));
  }

  /**
   * Selects a pipeline as text.
   *
   * @param {string} text
   * @returns {Promise<CommandError|null>} The error, if it is refused.
   */
  select(text) {
    return this.#inTurn(() => this.#select(text));
  }

  /**
   * Adds a stage, at the end or at the beginning.
   *
   * @param {string} filter
   * @param {NewStage} options
   */
  add(filter, options) {
    return this.#edit((stages) => this.#with(stages, filter, options));
  }

  /**
   * Removes the stage with the ID, or of the filter if there is no ID; adds one if necessary.
   *
   * @param {string} filter
   * @param {NewStage} options
   */
  toggle(filter, options) {
    return this.#edit((stages) => {
      const selected = this.find({ filter, id: options.id });
      return selected
        ? stages.filter((stage) => stage !== selected) : this.#with(stages, filter, options);
    });
  }

  /** @param {string} path */
  remove(path) {
    return this.#edit((stages) => stages.filter((stage) => stage.path !== path));
  }

  /** Dispatches `change` for listeners that were added after the call began. */
  announce() {
    this.dispatchEvent(new Event("change"));
  }

  /** Removes all stages. */
  clear() {
    return this.select("");
  }

  /**
   * Moves a stage.
   *
   * @param {string} path
   * @param {number} by -1: one place earlier; 1: one place later.
   */
  move(path, by) {
    return this.#edit((stages) => {
      const from = stages.findIndex((stage) => stage.path === path);
      const moved = [...stages];
      moved.splice(from + by, 0, ...moved.splice(from, 1));
      return moved;
    });
  }

  /**
   * Activates or deactivates a stage. It keeps its parameters and its state.
   *
   * @param {Stage} stage
   * @param {boolean} active
   */
  activate(stage, active) {
    return this.#inTurn(async () => {
      const error = await this.#send(
        "activate", { stages: { [stage.path]: active } }, new Span("activate"));
      // An unavailable server makes the change when it is back.
      if (error && error.code !== "UNAVAILABLE") {
        this.announce();
        this.#refuse(error, this.text);
      } else {
        stage.active = active;
        this.#valuesChanged();
      }
    });
  }

  /**
   * Sets a parameter. While one update is on its way only the newest values wait, so that a slider
   * never queues.
   *
   * @param {Stage} stage
   * @param {string} name
   * @param {Value} value
   */
  set(stage, name, value) {
    stage.values.set(name, valueText(value));
    const waiting = this.#updates.get(stage.path) ?? { stage, values: {} };
    waiting.values[name] = value;
    this.#updates.set(stage.path, waiting);
    this.#valuesChanged();
    if (!this.#isUpdating) this.#inTurn(() => this.#sendUpdates());
  }

  async #sendUpdates() {
    this.#isUpdating = true;
    try {
      for (const [path, { values }] of this.#updates) {
        this.#updates.delete(path);
        const error = await this.#send("update", { stage: path, values });
        if (error) this.#refuse(error, this.text);
      }
    } finally {
      this.#isUpdating = false;
    }
  }

  /** @param {(stages: Stage[]) => Stage[]} change */
  #edit(change) {
    return this.#inTurn(() =>
      this.#select(format({ space: this.space, stages: change(this.stages) })));
  }

  /** @param {string} text @returns {Promise<CommandError|null>} */
  async #select(text) {
    const span = new Span("select");
    try {
      const answer = await this.#commands.send(
        { command: "select", text, traceparent: span.traceparent });
      this.#await(answer.revision, span);
      this.#take(answer.text);
      return null;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refuse(error.error, text);
      return error.error;
    }
  }

  /** @param {CommandError} error @param {string} text */
  #refuse(error, text) {
    this.dispatchEvent(new CustomEvent("refusal", { detail: { error, text } }));
  }

  /**
   * Sends a change, and returns the error if it is refused.
   *
   * @param {string} command
   * @param {Record<string, unknown>} content
   * @param {Span} [span]
   * @returns {Promise<CommandError|null>}
   */
  async #send(command, content, span) {
    try {
      const answer = await this.#commands.send(
        { command, ...content, ...(span && { traceparent: span.traceparent }) });
      if (span) this.#await(answer.revision, span);
      return null;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return error.error;
    }
  }

  /** @param {string} text */
  #take(text) {
    this.text = text;
    Object.assign(this, parse(text));
    this.#updates.clear();
    this.dispatchEvent(new Event("change"));
  }

  #valuesChanged() {
    this.text = format(this);
    this.dispatchEvent(new Event("values"));
  }

  /**
   * Runs changes in sequence, because each builds on the one before.
   *
   * @template T
   * @param {() => Promise<T>} change
   * @returns {Promise<T>}
   */
  #inTurn(change) {
    const turn = this.#last.then(change);
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** @param {number} revision @param {Span} span */
  #await(revision, span) {
    // The frame may be back before the answer.
    if (revision <= this.#applied.revision) {
      this.#commands.notify(span.command(this.#applied.time));
      return;
    }
    this.#spans.set(revision, span);
    if (this.#spans.size > MAX_TRACES) this.#spans.delete(this.#spans.keys().next().value ?? 0);
  }

  /** @param {{revision: number, sequence: number}} applied */
  #onApplied(applied) {
    this.#applied = { revision: applied.revision, time: now() };
    for (const [revision, span] of this.#spans) {
      if (revision > applied.revision) continue;
      this.#commands.notify(span.command(this.#applied.time));
      this.#spans.delete(revision);
    }
    this.dispatchEvent(new CustomEvent("applied", { detail: applied }));
  }

  /**
   * Returns the stages with another one, which by default has an unused ID.
   *
   * @param {Stage[]} stages
   * @param {string} filter
   * @param {NewStage} options
   */
  #with(stages, filter, { id = newId(stages), values = {}, isFirst = false }) {
    const stage = stageOf(filter, values, id);
    return isFirst ? [stage, ...stages] : [...stages, stage];
  }
}

/**
 * Returns a stage.
 *
 * @param {string} filter
 * @param {Record<string, string>} values The parameters in text form.
 * @param {string} [id]
 * @returns {Stage}
 */
export function stageOf(filter, values, id = "") {
  return { path: id, id, filter, values: new Map(Object.entries(values)), content: "",
    attributes: [], active: true };
}

/** @param {Stage[]} stages */
function newId(stages) {
  for (let number = 1; ; number += 1) {
    const id = `s${number}`;
    if (!stages.some((stage) => stage.id === id)) return id;
  }
}
