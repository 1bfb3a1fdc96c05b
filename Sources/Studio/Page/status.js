/**
 * The state of the connection, problems, and the tabs.
 *
 * @typedef {import("./sidelight/connection.js").Connection} Connection
 * @typedef {import("./sidelight/connection.js").ConnectionState} ConnectionState
 * @typedef {import("./sidelight/index.js").RpcError} RpcError
 */

import { Operators } from "./operators/operators.js";
import { byId } from "./shared/dom.js";

/** @type {Record<ConnectionState, string>} */
const STATES = {
  connecting: "Connecting", open: "Connected", lost: "Reconnecting", refused: "Refused",
  "signed-out": "Signed out",
};

/** @param {Connection} connection */
export function showConnection(connection) {
  const status = byId("connection");
  const message = byId("screen-message");
  let own = "";

  /**
   * Shows a problem of the connection.
   *
   * @param {string} text Empty: it has passed. Another problem, such as a link's, stays.
   */
  function show(text) {
    if (text || byId("banner").textContent === own) showProblem(text);
    own = text;
  }

  connection.addEventListener("connection", (event) => {
    const { state, error } =
      /** @type {CustomEvent<{state: ConnectionState, error: RpcError|null}>} */ (event).detail;
    status.dataset.state = state;
    status.textContent = STATES[state];
    if (state === "open") return show("");
    message.hidden = false;
    message.textContent = state === "lost"
      ? "The connection was lost. Trying again…" : "Stopped.";
    if (state === "signed-out") {
      show("This page is not signed in. Open the URL that sidelight studio printed.");
    } else if (state === "refused") {
      show(`The server refuses the session: ${error?.sentence}`);
    }
  });
  connection.addEventListener("state", (event) => {
    const { state, message: reason } = /** @type {CustomEvent} */ (event).detail;
    if (state === "OVERRIDDEN") {
      show(`An operator has replaced the filters${reason ? `: ${reason}` : "."}`);
    } else if (state === "RUNNING") {
      show("");
    }
  });
}

/**
 * Shows a problem above the page.
 *
 * @param {string} text Empty: none.
 */
export function showProblem(text) {
  const banner = byId("banner");
  banner.textContent = text;
  banner.hidden = !text;
}

/**
 * Shows the operators' tab.
 *
 * @param {boolean} isOperator
 */
export function showTabs(isOperator) {
  const operators = new Operators();
  const tabs = [byId("tab-studio"), byId("tab-operators")];
  const pages = [byId("studio"), byId("operators")];
  byId("tabs").hidden = !isOperator;
  for (const [index, tab] of tabs.entries()) {
    tab.onclick = () => {
      for (const [other, page] of pages.entries()) {
        page.hidden = other !== index;
        tabs[other].setAttribute("aria-pressed", String(other === index));
      }
      if (index === 1) operators.show();
      else operators.hide();
    };
  }
}
