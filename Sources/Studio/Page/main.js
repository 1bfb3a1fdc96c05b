/**
 * The studio: puts the parts of the page together.
 *
 * @typedef {import("./sidelight/Generated/message-types.js").FilteredFrame} FilteredFrame
 */

import { assetFor, showGallery } from "./gallery/gallery.js";
import { Assets, isTable } from "./assets/assets.js";
import { Capture } from "./picture/capture.js";
import { Catalogue } from "./pipeline/catalogue.js";
import { Connection, FrameDecoder } from "./sidelight/index.js";
import { Hints, showHints } from "./shared/hints.js";
import { PictureMarks } from "./picture/region.js";
import { Selection } from "./pipeline/selection.js";
import { SourcePicker } from "./sources/picker.js";
import { Statistics } from "./metrics/statistics.js";
import { Steps } from "./steps.js";
import { StillSource } from "./sources/still.js";
import { View } from "./picture/view.js";
import { AnalysisLayer } from "./picture/analyses.js";
import { announce, byId, words } from "./shared/dom.js";
import { isSignedOut, server } from "./server.js";
import { linkedText } from "./pipeline/link.js";
import { loadVideo, showVideo } from "./picture/video.js";
import { showConnection, showProblem, showTabs } from "./status.js";
import { showCopies } from "./share/copy.js";
import { showPasses } from "./metrics/passes.js";
import { showRecorder } from "./picture/recorder.js";
import { showSlowMotion } from "./metrics/slow-motion.js";
import { showSplit } from "./picture/split.js";
import { showStages } from "./editor/stage-list.js";
import { showText } from "./editor/text-editor.js";
import { showTheme } from "./theme.js";

/** The pipeline that a newcomer sees first. */
const FIRST_PIPELINE = "vintageWarm, vignette(intensity: 0.6)";
/** The errors of the decoder without a picture in between after which video is given up. */
const MAX_DECODER_ERRORS = 3;

async function start() {
  dispatchEvent(new Event("studio-started"));
  showTheme();
  const info = await loadInfo();
  if (!info) return;
  const [catalogue, video] = await Promise.all([Catalogue.load(), loadVideo()]);
  const steps = new Steps();
  const selection = new Selection();
  const statistics = new Statistics();
  const assets = new Assets();
  const connection = new Connection(
    server,
    { label: "studio", dropPolicy: "NEWEST_WINS" }, () => selection.accepted, isSignedOut);
  const analyses = new AnalysisLayer(byId("analyses"));
  const hints = new Hints((shown) => showHints(byId("hints"), shown));
  const message = byId("screen-message");

  const view = new View(byId("picture"), (shown) => {
    statistics.show(shown);
    analyses.draw(capture.size);
    message.hidden = true;
  });
  const capture = new Capture({
    hasCredit: () => connection.session?.hasCredit ?? false,
    needsOriginal: () => view.split !== null,
    onFrame: (frame) => {
      const { session } = connection;
      if (!session) return;
      const { jpeg, chunk } = frame.message;
      view.keep(frame);
      statistics.transfer("sent", (jpeg ?? chunk?.data)?.length ?? 0, chunk?.type === "key");
      session.send({ ...frame.message, budgetMs: statistics.budgetMs });
    },
    onSkipped: () => statistics.skip(),
    onProblem: showProblem,
    onEncoderError: (reason) => giveVideoUp(`the browser cannot encode video: ${reason}`),
  });
  const giveVideoUp = showVideo(video, (codec) => { capture.codec = codec; });
  let decoderErrors = 0;
  const decoder = new FrameDecoder((picture, outcome) => {
    decoderErrors = 0;
    view.show(outcome, picture).finally(() => picture.close());
  }, ({ message: reason }) => {
    decoderErrors += 1;
    if (decoderErrors < MAX_DECODER_ERRORS) connection.session?.requestKeyFrame();
    else giveVideoUp(`the browser cannot decode the results: ${reason}`);
  });

  connection.addEventListener("frame", (event) => {
    const { detail } = /** @type {CustomEvent<FilteredFrame>} */ (event);
    capture.proceed();
    const pixels = detail.image?.inline ?? new Uint8Array(0);
    statistics.transfer("received", pixels.length, detail.image?.encoded?.keyFrame);
    if (!decoder.decode(detail)) view.show(detail, new Blob([pixels], { type: "image/jpeg" }));
  });
  connection.addEventListener("keyFrameNeeded", () => capture.requestKeyFrame());
  connection.addEventListener("dropped", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    statistics.drop(detail);
    view.forget(Number(detail.firstSequence), Number(detail.lastSequence));
    capture.proceed();
  });
  connection.addEventListener("analysis", (event) => {
    const { detail } = /** @type {CustomEvent} */ (event);
    const { filter } = detail;
    const isHint = hints.take({ filter, figures: Object.fromEntries(detail.figures),
      words: Object.fromEntries(detail.words) });
    if (!isHint) analyses.take(detail);
  });
  connection.addEventListener("opened", () => {
    hints.keep(() => false);
    capture.requestKeyFrame();
  });
  for (const type of ["change", "values"]) {
    selection.addEventListener(type, () => hints.keep((filter) => selection.isActive(filter)));
  }
  showConnection(connection);
  selection.attach(connection);

  const marks = new PictureMarks(selection);
  const sources = new SourcePicker({
    onPicture: (picture) => capture.offer(picture),
    onProblem: showProblem,
    onSource: (source) => setMirror(source.kind === "camera"),
  });
  showStages({
    catalogue, selection, closed: new Set(),
    editRegion: (stage) => marks.editRegion(stage),
    controls: {
      frameSize: () => capture.size,
      assets: () => assets.list,
      addAsset: () => assets.choose(),
      pickPoint: (onPoint) => marks.pickPoint(onPoint),
    },
  });
  const text = showText(selection);
  connection.addEventListener("opened", () => text.recheck());
  showSplit(view);
  showRecorder(view.canvas, () => "sidelight");
  showSlowMotion(selection);
  showCopies(selection, info.grpcAddress, () => steps.done("copy"));
  const passes = showPasses(selection, () => capture.size, () => capture.still());
  showTabs(info.operator);
  showRefusals(selection, hints);
  selection.addEventListener("values", () => steps.done("tune"));
  assets.addEventListener("change", () => {
    selection.repeat();
    selection.dispatchEvent(new Event("change"));
  });

  /** @param {string} filter @param {number} [index] */
  function add(filter, index) {
    const parameters = catalogue.exampleOf(filter);
    const [required] = catalogue.requiredOf(filter);
    const asset = required && assetFor(filter, assets.list);
    if (required && !asset) {
      return assets.choose((added) => {
        parameters.set(required.name, { text: added.name });
        selection.add(filter, parameters, index);
      });
    }
    if (asset) parameters.set(required.name, { text: asset.name });
    selection.add(filter, parameters, index);
    announce(`${words(filter)} is added.`);
    steps.done("pick");
  }

  const size = byId("size");
  size.onchange = () => {
    const [width, height] = size.value.split("x").map(Number);
    capture.size = { width, height };
    passes.update();
  };
  const budget = byId("budget");
  budget.onchange = () => { statistics.budgetMs = Number(budget.value); };
  const mirror = byId("mirror");
  /** @param {boolean} isMirrored */
  function setMirror(isMirrored) {
    capture.isMirrored = isMirrored;
    mirror.setAttribute("aria-pressed", String(isMirrored));
  }
  mirror.onclick = () => setMirror(!capture.isMirrored);
  takeDrops(sources, assets, add);

  await sources.start(StillSource.portrait());
  connection.open();
  await assets.load();
  const isValid = await text.enter(linkedText() ?? FIRST_PIPELINE);
  if (!isValid && linkedText()) showProblem("The pipeline of the link is not valid; see the text.");
  addEventListener("hashchange", () => {
    const linked = linkedText();
    if (linked !== null) text.enter(linked);
  });
  showGallery({
    catalogue, add, explain: (sentence) => hints.say(sentence), assets: () => assets.list,
    frame: (width) => capture.thumbnail(width),
    isOverloaded: () => statistics.isOverloaded,
  });
}

/**
 * Shows why the server refuses a pipeline, also where people look.
 *
 * @param {Selection} selection
 * @param {Hints} hints
 */
function showRefusals(selection, hints) {
  const problem = byId("refusal");
  selection.addEventListener("refused", (event) => {
    const error = /** @type {CustomEvent} */ (event).detail;
    problem.textContent = `Not in force: ${error.sentence}`;
    problem.hidden = false;
    hints.say(problem.textContent);
  });
  selection.addEventListener("accepted", () => {
    if (!problem.hidden) hints.say("");
    problem.hidden = true;
  });
}

/**
 * Takes files that are dropped on the page: tables and stickers are assets; videos, and pictures on
 * the picture, are sources.
 *
 * @param {SourcePicker} sources
 * @param {Assets} assets
 * @param {(filter: string) => void} add
 */
function takeDrops(sources, assets, add) {
  const screen = byId("screen");
  addEventListener("dragover", (event) => {
    event.preventDefault();
    screen.classList.toggle("drop-target", Boolean(event.dataTransfer?.types.includes("Files")));
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) screen.classList.remove("drop-target");
  });
  addEventListener("drop", async (event) => {
    event.preventDefault();
    screen.classList.remove("drop-target");
    for (const file of event.dataTransfer?.files ?? []) {
      if (file.type.startsWith("video/")) await sources.open(file);
      else if (await assets.add(file)) add(isTable(file) ? "colorCube" : "overlay");
    }
  });
}

/** @returns {Promise<{version: string, grpcAddress: string, operator: boolean}|null>} */
async function loadInfo() {
  const response = await fetch("info.json", { cache: "no-store" });
  if (response.ok) return response.json();
  showProblem(response.status === 401 || response.status === 403
    ? "This page is not signed in. Open the URL that sidelight studio printed."
    : `The server answered with ${response.status}.`);
  return null;
}

start().catch((error) => {
  showProblem(`The studio could not start: ${error.message}`);
  throw error;
});
