/**
 * The sessions of the server, for operators: their pipelines and latencies, and overrides.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").SessionInfo} SessionInfo
 * @typedef {import("../sidelight/call.js").Call} Call
 */

import { announce, byId, element } from "../shared/dom.js";
import { ownSessions } from "../own-sessions.js";
import { server } from "../server.js";
import { RpcError } from "../sidelight/index.js";

const RETRY_MS = 2000;
/** The durations of overrides, in seconds. */
/** @type {[number, string][]} */
const DURATIONS = [[10, "10 seconds"], [60, "1 minute"], [600, "10 minutes"], [3600, "1 hour"]];
const PRESET = "gaussianBlur(radius: 0.05w)";

/** The table of sessions. Runs while it is shown. */
export class Operators {
  #table = byId("sessions");
  #status = byId("operators-status");
  /** @type {Call|null} */
  #watch = null;
  #isShown = false;
  /** @type {Map<string, {row: HTMLElement, update: (session: SessionInfo) => void}>} */
  #rows = new Map();

  show() {
    this.#isShown = true;
    if (!this.#watch) this.#start();
  }

  hide() {
    this.#isShown = false;
    this.#watch?.cancel();
    this.#watch = null;
  }

  #start() {
    this.#watch = server.watchSessions((sessions) => this.#update(sessions), (error) => {
      this.#watch = null;
      this.#status.textContent = error ? error.sentence : "";
      if (this.#isShown) setTimeout(() => this.#isShown && !this.#watch && this.#start(), RETRY_MS);
    });
  }

  /** @param {SessionInfo[]} all */
  #update(all) {
    const isOwn = ownSessions();
    const sessions = all.filter(({ sessionId }) => !isOwn(sessionId));
    const ids = new Set(sessions.map(({ sessionId }) => sessionId));
    for (const [id, { row }] of this.#rows) {
      if (ids.has(id)) continue;
      row.remove();
      this.#rows.delete(id);
    }
    for (const session of sessions) {
      const known = this.#rows.get(session.sessionId) ?? this.#add(session);
      known.update(session);
    }
    this.#status.textContent = sessions.length ? "" : "There are no sessions.";
  }

  /** @param {SessionInfo} session */
  #add(session) {
    const card = sessionCard(session);
    this.#rows.set(session.sessionId, card);
    this.#table.append(card.row);
    return card;
  }
}

/** @param {SessionInfo} first */
function sessionCard({ sessionId, label }) {
  const name = label || sessionId;
  const id = `override-${sessionId}`;
  const title = element("h3", { id: `${id}-title` }, name);
  const state = element("span", { class: "badge" });
  const facts = element("dl", { class: "facts" });
  const pipeline = element("code", { class: "session-pipeline" });
  const problem = element("p", { class: "problem", role: "alert", hidden: true });
  const text = element("input", {
    id: `${id}-text`, type: "text", value: PRESET, spellcheck: "false", class: "mono",
  });
  const duration = element("select", { id: `${id}-duration` },
    ...DURATIONS.map(([seconds, shown]) => element("option", { value: seconds }, shown)));
  const reason = element("input", { id: `${id}-reason`, type: "text", maxlength: 200,
    placeholder: "for the user, and for logs" });
  const end = element("button", { type: "button", "data-action": "end-override",
    click: () => send({ sessionId }, "The override has ended.") }, "End override");
  const form = element("form", { class: "override", submit: (/** @type {Event} */ event) => {
    event.preventDefault();
    send({
      sessionId, pipelineText: text.value, reason: reason.value,
      timeToLive: { seconds: Number(duration.value), nanos: 0 },
    }, "The override is in force.");
  } },
  field(`${id}-text`, "Filters", text), field(`${id}-duration`, "For", duration),
  field(`${id}-reason`, "Reason", reason),
  element("div", { class: "row" },
    element("button", { class: "primary", "data-action": "override" }, "Override"), end));
  const row = element("section", {
    class: "session", "data-session": sessionId, "data-label": label,
    "aria-labelledby": `${id}-title`,
  }, element("div", { class: "row" }, title, state), facts, pipeline, form, problem);

  /** @param {object} request @param {string} message */
  async function send(request, message) {
    problem.hidden = true;
    try {
      await server.overrideSession(request);
      announce(message);
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const hint = error.suggestion ? ` Did you mean ${error.suggestion}?` : "";
      problem.textContent = `${error.sentence}${hint}`;
      problem.hidden = false;
    }
  }

  /** @param {SessionInfo} session */
  function update(session) {
    const { stats, width, height, lastTotalUs, caller, participant, age, overrideReason } = session;
    const isOverridden = session.state === "OVERRIDDEN";
    row.dataset.state = String(session.state);
    state.textContent = String(session.state).toLowerCase();
    state.classList.toggle("badge-alert", isOverridden);
    end.disabled = !isOverridden;
    pipeline.textContent = session.pipeline || "no filters";
    const dropped = (stats?.dropped ?? []).reduce((sum, { count }) => sum + Number(count), 0);
    facts.replaceChildren(
      ...fact("Caller", participant ? `${participant}, of ${caller}` : caller),
      ...fact("Frames", width ? `${width} × ${height}` : "none"),
      ...fact("Latency", lastTotalUs ? `${(lastTotalUs / 1000).toFixed(1)} ms` : "–"),
      ...fact("Received", String(stats?.received ?? 0)), ...fact("Dropped", String(dropped)),
      ...fact("Age", `${Number(age?.seconds ?? 0)} s`),
      ...(overrideReason ? fact("Reason", overrideReason) : []));
  }
  return { row, update };
}

/** @param {string} id @param {string} label @param {HTMLElement} input */
function field(id, label, input) {
  return element("div", { class: "field" }, element("label", { for: id }, label), input);
}

/** @param {string} name @param {string} value */
function fact(name, value) {
  return [element("div", {}, element("dt", {}, name), element("dd", {}, value))];
}
