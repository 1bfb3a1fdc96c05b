/**
 * The stages of the pipeline in order.
 *
 * @typedef {import("./stage-card.js").CardContext} CardContext
 */

import { announce, byId, words } from "../shared/dom.js";
import { makeDraggable } from "./drag.js";
import { stageCard } from "./stage-card.js";

/**
 * Shows the stages, after each change of the selection.
 *
 * @param {CardContext} context
 */
export function showStages(context) {
  const { selection } = context;
  const list = byId("stages");
  byId("clear").onclick = () => selection.clear();
  byId("undo").onclick = undo;
  addEventListener("keydown", (event) => {
    const isText = /** @type {HTMLElement} */ (event.target).closest?.("textarea, input");
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !isText) undo();
  });

  function undo() {
    announce(selection.undo() ? "The last change is undone." : "There is nothing to undo.");
  }

  function show() {
    const focus = focused(list);
    list.replaceChildren(...selection.stages.map((stage, index) => {
      const card = stageCard(stage, index, context);
      const grip = /** @type {HTMLElement} */ (card.querySelector(".grip"));
      makeDraggable(grip, list, words(stage.filter?.name ?? "group"), (target) =>
        selection.move(stage, target > index ? target - 1 : target));
      return card;
    }));
    byId("no-stages").hidden = selection.stages.length > 0;
    byId("clear").hidden = selection.stages.length === 0;
    if (focus) restore(list, focus, moved);
    moved = null;
  }

  /** @type {number|null} The new position of a stage that a key moved. */
  let moved = null;
  list.addEventListener("click", (/** @type {Event} */ event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest("[data-action]");
    const item = button?.closest("li");
    if (!button || !item) return;
    const index = [...list.children].indexOf(item);
    const { action } = /** @type {HTMLElement} */ (button).dataset;
    if (action === "up") moved = index - 1;
    else if (action === "down") moved = index + 1;
  }, { capture: true });

  selection.addEventListener("change", show);
  show();
}

/**
 * Returns the position and the action of the control that has the focus.
 *
 * @param {HTMLElement} list
 */
function focused(list) {
  const active = document.activeElement;
  const item = active?.closest("li");
  if (!active || !item || !list.contains(item)) return null;
  const { action } = /** @type {HTMLElement} */ (active).dataset;
  return { index: [...list.children].indexOf(item), action: action ?? "open" };
}

/**
 * @param {HTMLElement} list
 * @param {{index: number, action: string}} focus
 * @param {number|null} moved
 */
function restore(list, { index, action }, moved) {
  const item = list.children[Math.min(moved ?? index, list.children.length - 1)];
  const found = /** @type {HTMLButtonElement|null|undefined} */ (
    item?.querySelector(`[data-action="${action}"]:not(:disabled)`)
      ?? item?.querySelector('[data-action="open"]'));
  (found ?? byId("clear")).focus({ preventScroll: true });
}
