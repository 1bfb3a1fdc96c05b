/**
 * The pipeline as code of other programs, and as a link.
 *
 * @typedef {import("../pipeline/selection.js").Selection} Selection
 */

import { byId, element } from "../shared/dom.js";
import { linkTo } from "../pipeline/link.js";
import { LANGUAGES } from "./snippets.js";

/**
 * Shows the code of the selection.
 *
 * @param {Selection} selection
 * @param {string} address The address of the server for other programs.
 * @param {() => void} onCopy
 */
export function showCopies(selection, address, onCopy) {
  const list = byId("copy-languages");
  const snippet = byId("snippet");
  const status = byId("copied");
  let language = LANGUAGES[0];

  const tabs = LANGUAGES.map((each) => element("button", {
    type: "button", role: "tab", id: `copy-${each.id}`, class: "chip", "aria-controls": "snippet",
    click: () => choose(each),
    keydown: (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const index = (LANGUAGES.indexOf(language) + step + LANGUAGES.length) % LANGUAGES.length;
      choose(LANGUAGES[index]);
      tabs[index].focus();
    },
  }, each.label));
  list.append(...tabs);

  /** @param {typeof language} chosen */
  function choose(chosen) {
    language = chosen;
    for (const [index, tab] of tabs.entries()) {
      const isChosen = LANGUAGES[index] === language;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
    }
    snippet.setAttribute("aria-labelledby", `copy-${language.id}`);
    show();
  }

  function show() {
    snippet.textContent = language.snippet(selection.pipeline, address);
    status.textContent = "";
  }

  /** @param {string} text @param {string} message */
  async function copy(text, message) {
    try {
      await navigator.clipboard.writeText(text);
      status.textContent = message;
      onCopy();
    } catch {
      status.textContent = "The browser does not allow it: select the text, and copy it.";
      getSelection()?.selectAllChildren(snippet);
    }
  }

  byId("copy").onclick = () => copy(snippet.textContent, `${language.label} is copied.`);
  byId("copy-link").onclick = () => {
    const link = linkTo(selection.text);
    history.replaceState(null, "", link);
    copy(link, "The link is copied.");
  };
  selection.addEventListener("change", show);
  selection.addEventListener("values", show);
  choose(language);
}
