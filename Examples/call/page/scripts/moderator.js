/**
 * The moderator's page: the sessions, and overrides of a participant's filter for a time.
 *
 * @typedef {object} Session
 * @property {string} id
 * @property {string} participant
 * @property {string} state
 * @property {string} pipeline
 * @property {string} reason The reason of the override in force; otherwise empty.
 * @property {number} width
 * @property {number} height
 * @property {number} filtered
 * @property {number} dropped
 */

import { byId, element, words } from "../shared/dom.js";
import { reasonOf } from "./responses.js";

const RETRY_MS = 1000;
let wasOpen = false;
const key = new URLSearchParams(location.search).get("key") ?? "";

/** Shows the sessions that the call server sends, and connects again after an interruption. */
function watch() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const socket = new WebSocket(
    `${scheme}//${location.host}/moderator/sessions?key=${encodeURIComponent(key)}`);
  socket.onmessage = ({ data }) => {
    wasOpen = true;
    const { sessions, error } = JSON.parse(data);
    showProblem(error?.message ?? "");
    if (sessions) showSessions(sessions);
  };
  socket.onclose = () => {
    showProblem(wasOpen ? "The call server is not reachable." :
      "The call server refused the connection: is the key in the address right?");
    if (wasOpen) setTimeout(watch, RETRY_MS);
  };
}

/** @param {string} message */
function showProblem(message) {
  byId("problem").textContent = message;
  byId("problem").hidden = !message;
}

/** @param {Session[]} sessions */
function showSessions(sessions) {
  const body = byId("sessions");
  const focused = document.activeElement?.getAttribute("data-action");
  const row = document.activeElement?.closest("tr")?.dataset.session;
  body.replaceChildren(...sessions.map(sessionRow));
  byId("no-sessions").hidden = sessions.length > 0;
  body.parentElement.hidden = sessions.length === 0;
  if (focused && row) {
    body.querySelector(`[data-session="${CSS.escape(row)}"] [data-action="${focused}"]`)?.focus();
  }
}

/** @param {Session} session */
function sessionRow(session) {
  const { id, participant, state, pipeline, reason, width, height } = session;
  const isOverridden = reason !== "" || state === "overridden";
  const size = width ? `${width} × ${height}` : "none yet";
  return element("tr", { "data-session": id, "data-participant": participant },
    element("td", {}, participant),
    element("td", {}, element("span", { class: "badge", "data-state": state }, words(state)),
      ...(reason ? [element("small", {}, reason)] : [])),
    element("td", { class: "pipeline" }, pipeline || "none"),
    number("Size", size),
    number("Filtered", session.filtered.toLocaleString("en")),
    number("Dropped", session.dropped.toLocaleString("en")),
    element("td", { class: "actions" },
      isOverridden ?
        element("button", { "data-action": "end-override",
          "aria-label": `End the override of ${participant}`,
          click: () => send({ participant }) }, "End") :
        element("button", { "data-action": "override", "aria-label": `Override ${participant}`,
          click: () => choose(participant) }, "Override")));
}

/** @param {string} label Shown where the table has no head. @param {string} text */
function number(label, text) {
  return element("td", { class: "number", "data-label": label }, text);
}

/** @param {string} participant */
function choose(participant) {
  byId("override-participant").value = participant;
  byId("override-pipeline").focus();
}

/** @param {Record<string, unknown>} content */
async function send(content) {
  const problem = byId("override-error");
  try {
    const response = await fetch("/moderator/overrides", { method: "POST",
      headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
      body: JSON.stringify(content) });
    problem.textContent = response.ok ? "" : await reasonOf(response);
  } catch {
    problem.textContent = "The call server is not reachable.";
  }
  problem.hidden = !problem.textContent;
}

byId("override-form").addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  send({
    participant: byId("override-participant").value,
    pipeline: byId("override-pipeline").value,
    seconds: Number(byId("override-seconds").value),
    reason: byId("override-reason").value,
  });
});
watch();
