/**
 * The pipeline as text. A valid text is selected while the user writes; an invalid one is marked
 * at the character, with the suggestion.
 *
 * @typedef {import("../pipeline/selection.js").Selection} Selection
 */

import { byId, element } from "../shared/dom.js";
import { excerpt, indexOf, replacedAt } from "../shared/positions.js";
import { server } from "../server.js";
import { RpcError } from "../sidelight/index.js";
import { highlighted } from "./highlight.js";

const CHECK_DELAY_MS = 200;
/** The number of characters that are shown on each side of an error. */
const CONTEXT = 18;

/**
 * Shows the text of the selection, and selects what the user writes.
 *
 * @param {Selection} selection
 * @returns {{enter: (text: string) => Promise<boolean>, recheck: () => void}} `enter` writes a text
 *   as the user does, and returns whether it is valid; `recheck` checks an invalid text again, for
 *   which the server may not have answered.
 */
export function showText(selection) {
  const input = byId("pipeline-text");
  const backdrop = byId("pipeline-backdrop");
  const problem = byId("text-problem");
  let timer = 0;
  let isApplying = false;
  /**
   * Whether the text matches the selection, was not checked yet, or is invalid.
   *
   * @param {"selected"|"checking"|"invalid"} state
   */
  const setState = (state) => { input.dataset.state = state; };

  /** @param {number} [errorAt] */
  function paint(errorAt) {
    backdrop.replaceChildren(...highlighted(input.value, errorAt));
    fit();
  }

  function fit() {
    input.style.height = "auto";
    input.style.height = `${Math.max(input.scrollHeight, 76)}px`;
  }

  async function apply() {
    clearTimeout(timer);
    const text = input.value;
    try {
      const { pipeline } = await server.checkPipeline({ text });
      if (text !== input.value) return false;
      hideError();
      isApplying = true;
      if (pipeline) selection.replace(pipeline);
      isApplying = false;
      setState("selected");
      return true;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      if (text === input.value) showError(error, text);
      return false;
    }
  }

  /** @param {RpcError} error @param {string} text */
  function showError(error, text) {
    const { line, column, suggestion } = error;
    const isPlaced = line > 0 && column > 0;
    const index = isPlaced ? indexOf(text, line, column) : 0;
    paint(isPlaced ? index : undefined);
    problem.replaceChildren();
    Object.assign(problem.dataset, { line, column, suggestion });
    if (isPlaced) {
      const marked = excerpt(text, line, column, CONTEXT);
      problem.append(element("pre", { "aria-hidden": "true" }, marked));
    }
    problem.append(element("p", {}, error.sentence,
      element("span", { class: "hidden" }, isPlaced ? ` (line ${line}, column ${column})` : "")));
    if (suggestion && isPlaced) {
      problem.append(element("button", { type: "button", class: "small", id: "use-suggestion",
        click: () => {
          input.focus();
          enter(replacedAt(text, index, suggestion));
        } }, `Use ${suggestion}`));
    }
    problem.hidden = false;
    setState("invalid");
    input.setAttribute("aria-invalid", "true");
  }

  function hideError() {
    problem.hidden = true;
    problem.replaceChildren();
    input.removeAttribute("aria-invalid");
    paint();
  }

  /** @param {string} text */
  function enter(text) {
    input.value = text;
    setState("checking");
    paint();
    return apply();
  }

  function recheck() {
    if (input.dataset.state === "invalid") apply();
  }

  function follow() {
    if (isApplying) return;
    clearTimeout(timer);
    input.value = selection.text;
    setState("selected");
    hideError();
  }

  input.oninput = () => {
    setState("checking");
    paint();
    clearTimeout(timer);
    timer = window.setTimeout(apply, CHECK_DELAY_MS);
  };
  input.onblur = () => {
    if (input.dataset.state === "selected" && input.value !== selection.text) follow();
  };
  selection.addEventListener("change", follow);
  selection.addEventListener("values", follow);
  addEventListener("resize", fit);
  follow();
  return { enter, recheck };
}
