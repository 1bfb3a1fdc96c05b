/**
 * Drag and drop with the pointer: stages to another position, and filters of the gallery into the
 * list of stages.
 */

import { element } from "../shared/dom.js";

/** The movement from which a press is a drag, in pixels. */
const THRESHOLD = 6;
/** The distance around the list in which it still takes a drop, in pixels. */
const MARGIN = 40;

/**
 * Lets the user drag an element into a list.
 *
 * @param {HTMLElement} handle The element that is pressed.
 * @param {HTMLElement} list The list of stages.
 * @param {string} label The text that follows the pointer.
 * @param {(index: number) => void} onDrop Called with the position between the list's items.
 */
export function makeDraggable(handle, list, label, onDrop) {
  handle.addEventListener("pointerdown", (down) => {
    // Touches scroll; buttons move stages there.
    if (down.button !== 0 || (down.pointerType === "touch" && !handle.matches(".grip"))) return;
    if (/** @type {HTMLElement} */ (down.target).closest("input, select, textarea")) return;
    const ended = new AbortController();
    const { signal } = ended;
    /** @type {HTMLElement|null} */
    let ghost = null;

    addEventListener("pointermove", (move) => {
      const distance = Math.hypot(move.clientX - down.clientX, move.clientY - down.clientY);
      if (!ghost && distance < THRESHOLD) return;
      if (!ghost) {
        ghost = /** @type {HTMLElement} */ (element("div", { class: "ghost" }, label));
        document.body.append(ghost);
        document.body.classList.add("dragging");
      }
      move.preventDefault();
      ghost.style.translate = `${move.clientX + 12}px ${move.clientY + 8}px`;
      showPosition(list, indexAt(list, move));
    }, { signal });

    addEventListener("pointerup", (up) => {
      const index = ghost ? indexAt(list, up) : null;
      // The click that follows a drag is ignored.
      if (ghost) addEventListener("click", stop, { capture: true, once: true });
      setTimeout(() => removeEventListener("click", stop, { capture: true }));
      end();
      if (index !== null) onDrop(index);
    }, { signal });
    addEventListener("pointercancel", end, { signal });
    addEventListener("keydown", (event) => event.key === "Escape" && end(), { signal });

    function end() {
      ended.abort();
      ghost?.remove();
      document.body.classList.remove("dragging");
      showPosition(list, null);
    }
  });
  handle.addEventListener("dragstart", (event) => event.preventDefault());
}

/** @param {Event} event */
function stop(event) {
  event.stopPropagation();
  event.preventDefault();
}

/**
 * Returns the position in a list under the pointer; `null` outside of the list.
 *
 * @param {HTMLElement} list
 * @param {PointerEvent} event
 */
function indexAt(list, { clientX, clientY }) {
  const panel = (list.closest(".panel") ?? list).getBoundingClientRect();
  const isOutside = clientX < panel.left - MARGIN || clientX > panel.right + MARGIN
    || clientY < panel.top - MARGIN || clientY > panel.bottom + MARGIN;
  if (isOutside) return null;
  const items = [...list.children];
  const found = items.findIndex((item) => {
    const { top, height } = item.getBoundingClientRect();
    return clientY < top + height / 2;
  });
  return found < 0 ? items.length : found;
}

/** @param {HTMLElement} list @param {number|null} index */
function showPosition(list, index) {
  for (const [position, item] of [...list.children].entries()) {
    item.classList.toggle("drop-before", position === index);
    item.classList.toggle("drop-after",
      position === list.children.length - 1 && index === list.children.length);
  }
  list.classList.toggle("drop-empty", index !== null && list.children.length === 0);
}
