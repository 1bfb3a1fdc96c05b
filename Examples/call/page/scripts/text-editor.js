/**
 * The pipeline as text, with the error under its character and the suggestion.
 *
 * @typedef {import("./commands.js").Commands} Commands
 * @typedef {import("./selection.js").Selection} Selection
 * @typedef {import("./types.js").CommandError} CommandError
 */

import { byId, element } from "../shared/dom.js";
import { excerpt, indexOf, replacedAt } from "../shared/positions.js";
import { Refusal } from "./commands.js";

const CHECK_DELAY_MS = 300;
/** The number of characters that are shown on each side of an error. */
const CONTEXT = 16;

/**
 * Shows the text of the selection, checks it while the user writes, and selects it.
 *
 * @param {Commands} commands
 * @param {Selection} selection
 */
export function showText(commands, selection) {
  const editor = byId("pipeline-text");
  const problem = byId("pipeline-error");
  const suggestion = byId("pipeline-suggestion");
  const applyButton = byId("apply-text");
  let isEdited = false;
  let timer = 0;

  async function apply() {
    clearTimeout(timer);
    isEdited = false;
    if (await selection.select(editor.value)) isEdited = true;
  }

  async function check() {
    const text = editor.value;
    try {
      await commands.send({ command: "check", text });
      if (text === editor.value) hideError();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (text === editor.value) showError(error.error, text);
    }
  }

  /** @param {CommandError} error @param {string} text */
  function showError(error, text) {
    const { line, column, message } = error;
    problem.replaceChildren();
    delete problem.dataset.line;
    delete problem.dataset.column;
    if (line && column) {
      Object.assign(problem.dataset, { line, column });
      problem.append(element("pre", { "aria-hidden": "true" }, excerpt(text, line, column, CONTEXT)));
    }
    problem.append(element("p", {}, sentence(message)));
    problem.hidden = false;
    editor.setAttribute("aria-invalid", "true");
    suggestion.hidden = !(error.suggestion && line && column);
    suggestion.textContent = `Use ${error.suggestion}`;
    suggestion.dataset.suggestion = error.suggestion ?? "";
    suggestion.onclick = () => {
      const index = indexOf(text, line ?? 1, column ?? 1);
      editor.value = replacedAt(text, index, error.suggestion ?? "");
      apply();
    };
  }

  function hideError() {
    problem.hidden = true;
    problem.replaceChildren();
    suggestion.hidden = true;
    editor.removeAttribute("aria-invalid");
  }

  editor.oninput = () => {
    isEdited = true;
    clearTimeout(timer);
    timer = setTimeout(check, CHECK_DELAY_MS);
  };
  /** @param {KeyboardEvent} event */
  editor.onkeydown = (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    apply();
  };
  applyButton.onclick = apply;

  selection.addEventListener("change", () => {
    editor.value = selection.text;
    isEdited = false;
    hideError();
  });
  selection.addEventListener("values", () => {
    if (!isEdited) editor.value = selection.text;
  });
  selection.addEventListener("refusal", (event) => {
    const { error, text } = /** @type {CustomEvent} */ (event).detail;
    if (editor.value !== text) editor.value = text;
    showError(error, text);
    // A press of a filter's button can be refused too, far from the text.
    problem.closest("details").open = true;
    applyButton.scrollIntoView({ block: "nearest" });
  });
}

/**
 * Returns an error's sentence, without the position and the excerpt that the page shows itself.
 *
 * @param {string} message
 */
function sentence(message) {
  const [first] = message.split("\n");
  return first.replace(/^.*?column \d+: /, "");
}
