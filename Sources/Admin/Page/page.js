// Shows status.json, once per second. Texts from clients (labels, pipelines) are inserted as text only.
"use strict";

const byID = (id) => document.getElementById(id);

function show(id, text) {
  const element = byID(id);
  if (element.textContent !== text) element.textContent = text;
}

function short(number) {
  if (number === null || number === undefined) return "–";
  if (number >= 100) return String(Math.round(number));
  return number.toFixed(number >= 10 ? 1 : 2).replace(/\.?0+$/, "") || "0";
}

function bytes(number) {
  const units = ["B", "KiB", "MiB", "GiB"];
  let unit = 0;
  while (number >= 1024 && unit < units.length - 1) { number /= 1024; unit += 1; }
  return `${short(number)} ${units[unit]}`;
}

function time(seconds) {
  seconds = Math.floor(seconds);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}

/** Draws a sparkline: the last value is at the right edge; unknown values are gaps. */
function draw(canvas, values, points, floor) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth * ratio, canvas.clientHeight * ratio];
  if (width === 0) return;
  [canvas.width, canvas.height] = [width, height];
  const context = canvas.getContext("2d");
  const top = Math.max(floor, ...values);  // null counts as 0
  context.strokeStyle = getComputedStyle(canvas).color;
  context.lineWidth = 1.5 * ratio;
  context.lineJoin = "round";
  context.beginPath();
  let isDrawing = false;
  values.forEach((value, index) => {
    if (value === null) { isDrawing = false; return; }
    const x = width - (values.length - 1 - index) * (width / (points - 1)) - ratio;
    const y = height - ratio - (value / top) * (height - 3 * ratio);
    if (isDrawing) context.lineTo(x, y); else context.moveTo(x - ratio, y);
    context.lineTo(x, y);
    isDrawing = true;
  });
  context.stroke();
}

function dropped(frames) { return Object.values(frames.dropped).reduce((a, b) => a + b, 0); }

function cell(row, text, kind) {
  const cell = row.insertCell();
  cell.textContent = text;
  if (kind) cell.className = kind;
  return cell;
}

function showBars(id, entries) {
  const body = byID(id).tBodies[0];
  body.replaceChildren();
  const top = Math.max(1, ...entries.map((entry) => entry[1]));
  for (const [name, count] of entries) {
    const row = body.insertRow();
    cell(row, name.replaceAll("_", " "));
    const bar = document.createElement("i");
    bar.style.width = `${(100 * count) / top}%`;
    cell(row, "", "bar").append(bar);
    cell(row, count.toLocaleString("en"), "number");
  }
}

/** Updates the table in place, so a selection by the user is kept. */
function showSessions(sessions) {
  const body = byID("sessions").tBodies[0];
  const rows = new Map([...body.rows].map((row) => [row.dataset.id, row]));
  for (const session of sessions) {
    const row = rows.get(session.id) ?? addSession(body, session.id);
    rows.delete(session.id);
    const texts = [
      session.id, session.label, session.participant, session.peer, session.state, session.picture,
      session.pipeline || "none", short(session.delivered), short(session.dropped),
      `${short(session.latency)} ms`, null, time(session.age),
    ];
    texts.forEach((text, column) => {
      const cell = row.cells[column];
      if (text === null || cell.textContent === text) return;
      cell.textContent = text;
      cell.title = text;
    });
    draw(row.cells[10].firstChild, session.latencies, 60, 1);
  }
  for (const row of rows.values()) row.remove();
}

function addSession(body, id) {
  const row = body.insertRow();
  row.dataset.id = id;
  for (let column = 0; column < 12; column += 1) row.insertCell();
  for (const column of [7, 8, 9, 11]) row.cells[column].className = "number";
  for (const column of [0, 6]) row.cells[column].className = "mono";
  row.cells[10].append(document.createElement("canvas"));
  return row;
}

function showStatus(status) {
  show("phase", status.phase);
  byID("phase").className = `badge ${status.phase}`;
  show("about", `${status.version} · up ${time(status.uptime)}`);
  const last = status.history.at(-1);
  for (const id of ["delivered", "dropped", "median", "p99", "load"]) {
    show(id, last ? short(last[id]) : "–");
    draw(byID(`${id}-line`), status.history.map((second) => second[id] ?? null), 120, 1);
  }
  show("load", `${Math.round(100 * status.load)} %`);
  show("threads", `of ${status.computeThreads} threads`);
  const frames = status.frames;
  showBars("outcomes", [
    ["filtered", frames.filtered], ["passed through", frames.passedThrough],
    ["degraded", frames.degraded], ["dropped", dropped(frames)],
  ]);
  const reasons = Object.entries(frames.dropped).sort((a, b) => b[1] - a[1]);
  showBars("reasons", reasons);
  byID("no-drops").hidden = reasons.length > 0;
  show("session-count", status.sessions.length ? `(${status.sessions.length})` : "");
  byID("sessions").hidden = status.sessions.length === 0;
  byID("no-sessions").hidden = status.sessions.length > 0;
  showSessions(status.sessions);
  show("pool", `frame buffers: ${bytes(status.poolBytesInUse)} in use, ${bytes(status.poolBytesIdle)} idle`);
}

async function refresh() {
  try {
    const response = await fetch("status.json", { signal: AbortSignal.timeout(5000) });
    if (!response.ok) throw new Error(response.statusText);
    showStatus(await response.json());
  } catch {
    show("phase", "no answer");
    byID("phase").className = "badge lost";
  }
  setTimeout(refresh, 1000);
}

refresh();
