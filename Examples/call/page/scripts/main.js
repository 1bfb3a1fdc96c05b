/**
 * The page of a call: the form for joining, then the parts of the call.
 *
 * @typedef {import("./commands.js").Commands} Commands
 */

import { Assets } from "./assets.js";
import { Call } from "./call.js";
import { Catalogue } from "./catalogue.js";
import { Hints, showHints } from "../shared/hints.js";
import { byId, element } from "../shared/dom.js";
import { showEffects } from "./effects.js";
import { showFilters } from "./filter-list.js";
import { Selection } from "./selection.js";
import { showStages } from "./stage-list.js";
import { showStatistics } from "./statistics.js";
import { showText } from "./text-editor.js";
import { Tiles } from "./tiles.js";
import { showToolbar } from "./toolbar.js";

const parameters = new URLSearchParams(location.search);
const form = byId("join-form");
const problem = byId("join-error");

/** @param {"left"|"joining"|"joined"} state */
function setState(state) {
  document.documentElement.dataset.call = state;
  byId("lobby").hidden = state === "joined";
  byId("call").hidden = state !== "joined";
  byId("join").disabled = state === "joining";
  byId("where").hidden = state !== "joined";
  byId("status").hidden = true;
}

/** @param {string} message Empty: none. */
function showProblem(message) {
  problem.textContent = message;
  problem.hidden = !message;
}

/** Returns the camera's stream. */
async function openCamera() {
  if (!window.isSecureContext) {
    throw new Error("Browsers offer a camera to pages of https: and of localhost only.");
  }
  const [width, height] = byId("camera-size").value.split("x").map(Number);
  const wanted = {
    width: { ideal: Number(parameters.get("width") ?? width) },
    height: { ideal: Number(parameters.get("height") ?? height) },
    frameRate: { ideal: Number(parameters.get("rate") ?? 30) },
    facingMode: "user",
  };
  try {
    return await navigator.mediaDevices.getUserMedia({ video: wanted, audio: false });
  } catch (error) {
    throw new Error(`The camera is not available: ${/** @type {Error} */ (error).message}`);
  }
}

/** @type {Record<string, (message: string) => string>} The banner's text by the session's state. */
const STATUS = {
  running: () => "",
  paused: () => "Your video is paused.",
  overridden: (reason) => `A moderator has changed your filter. ${reason}`,
  draining: () => "Sidelight is shutting down.",
  disconnected: (effect) => effect,
};

/** @param {CustomEvent} event */
function showStatus({ detail: { state, message } }) {
  const banner = byId("status");
  banner.hidden = state === "running";
  banner.dataset.state = state;
  banner.textContent = (STATUS[state] ?? String)(message);
}

async function join() {
  setState("joining");
  showProblem("");
  let call;
  try {
    const camera = await openCamera();
    call = new Call(byId("room").value.trim(), byId("name").value.trim(), camera);
    await start(call, camera);
    setState("joined");
    byId("pause-video").focus();
  } catch (error) {
    call?.leave();
    setState("left");
    showProblem(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Joins a call and shows its parts.
 *
 * @param {Call} call
 * @param {MediaStream} camera
 */
async function start(call, camera) {
  /** @type {ReturnType<typeof showEffects>} */
  let effects;
  const tiles = new Tiles(call.name, (picture) => effects.useOwnPicture(picture));
  const selection = new Selection(call.commands);
  call.addEventListener("room", (event) =>
    tiles.update(/** @type {CustomEvent} */ (event).detail));
  call.addEventListener("video", (event) => {
    const { name, stream } = /** @type {CustomEvent} */ (event).detail;
    tiles.play(name, stream);
  });
  call.addEventListener("end", (event) => {
    tiles.clear();
    setState("left");
    showProblem(/** @type {CustomEvent} */ (event).detail);
    byId("join").focus();
  });
  call.commands.addEventListener("state", (event) =>
    showStatus(/** @type {CustomEvent} */ (event)));

  await call.join();
  const catalogue = await Catalogue.load(call.resources);
  const assets = new Assets(call.resources);
  byId("where").textContent = `${call.room} · ${call.name}`;
  showFilters(catalogue, selection, assets);
  showStages(catalogue, selection, assets, () => tiles.frameSize);
  effects = showEffects(catalogue, selection, assets);
  showReports(call.commands, selection, tiles);
  showText(call.commands, selection);
  showStatistics(call.commands);
  selection.announce();
  const facing = camera.getVideoTracks()[0].getSettings().facingMode;
  showToolbar(call, tiles, {
    preview: parameters.get("preview") !== "off", isFrontCamera: facing !== "environment" });
}

/**
 * Shows over the own video why it is hidden, and what a background waits for.
 *
 * @param {Commands} commands
 * @param {Selection} selection
 * @param {Tiles} tiles
 */
function showReports(commands, selection, tiles) {
  const list = element("div", { class: "hints", role: "status", hidden: true });
  tiles.own.append(list);
  const hints = new Hints((shown) => showHints(list, shown));
  const forget = () => hints.keep((filter) => selection.isActive(filter));
  commands.addEventListener("analysis", (event) =>
    hints.take(/** @type {CustomEvent} */ (event).detail));
  selection.addEventListener("change", forget);
  selection.addEventListener("values", forget);
}

byId("room").value = parameters.get("room") ?? "lounge";
byId("name").value = parameters.get("name") ?? "";
// A file that is dropped next to a tile would replace the page, and end the call.
for (const type of ["dragover", "drop"]) {
  document.addEventListener(type, (event) => {
    const { dataTransfer } = /** @type {DragEvent} */ (event);
    if (dataTransfer?.types.includes("Files")) event.preventDefault();
  });
}
form.addEventListener("submit", (/** @type {Event} */ event) => {
  event.preventDefault();
  join();
});
setState("left");
if (parameters.has("join")) join();
else byId(byId("name").value ? "join" : "name").focus();
