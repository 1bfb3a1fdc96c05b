/**
 * All filters by category, each with its effect on the newest frame. Favourites are above the
 * categories, and the names of recently used filters above them.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Asset} Asset
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} ParameterValue
 * @typedef {import("../sidelight/Generated/message-types.js").Pipeline} Pipeline
 * @typedef {import("../pipeline/catalogue.js").Catalogue} Catalogue
 * @typedef {import("../pipeline/catalogue.js").KnownFilter} KnownFilter
 */

import { makeDraggable } from "../editor/drag.js";
import { byId, element, words } from "../shared/dom.js";
import { isFound } from "../shared/search.js";
import { RememberedFilters } from "./remembered.js";
import { ThumbnailSession } from "./thumbnails.js";

const WIDTH = 160, HEIGHT = 90;
/** The time between two thumbnails; and while the session of the picture loses frames, between two
 * first ones and between two others. */
const PERIOD_MS = 110, OVERLOADED_FIRST_MS = 250, OVERLOADED_MS = 1000;
/** The number of thumbnails of the same frame. */
const PER_FRAME = 6;
/** The width of frames for which defaults in pixels are meant, relative to thumbnails. */
const SCALE = WIDTH / 640;
/** The number of characters from which a reason needs two columns. */
const LONG = 60;
/** The number of recently used filters that are shown. */
const RECENT = 6;
/** The error of filters that this server cannot run. */
const UNAVAILABLE = "FAILED_PRECONDITION";

/**
 * @typedef {object} GalleryContext
 * @property {Catalogue} catalogue
 * @property {() => Asset[]} assets
 * @property {(width: number) => Promise<Uint8Array>} frame The newest frame as a small JPEG.
 * @property {() => boolean} isOverloaded Whether the session of the picture loses frames.
 * @property {(filter: string, index?: number) => void} add Adds a filter to the pipeline.
 * @property {(sentence: string) => void} explain Shows why a filter cannot be added.
 *
 * @typedef {object} Card
 * @property {KnownFilter} filter
 * @property {(index?: number) => void} use Adds the filter to the pipeline, or says why not.
 * @property {HTMLElement} item
 * @property {HTMLElement} home The list of the filter's category.
 * @property {HTMLButtonElement} button
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} note
 * @property {boolean} isVisible
 * @property {number} shownMs
 * @property {string} refusal The reason why the server cannot run the filter; empty if it can.
 */

/** @param {GalleryContext} context */
export function showGallery(context) {
  const { catalogue } = context;
  const session = new ThumbnailSession();
  const favourites = new RememberedFilters("sidelight-studio-favourites", 100);
  const recent = new RememberedFilters("sidelight-studio-recent", RECENT);
  const missing = new Set(catalogue.missing);
  /** @type {Card[]} */
  const cards = [];
  /** @type {Map<Element, Card>} */
  const byButton = new Map();
  const observer = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const card = byButton.get(target);
      if (card) card.isVisible = isIntersecting;
    }
  });

  const recentItems = createSection("recently used", "recent");
  const favouriteItems = createSection("favourites", "thumbs");
  for (const [category, filters] of catalogue.byCategory()) {
    const items = createSection(category, "thumbs");
    for (const filter of filters) {
      const card = createCard(filter, items);
      cards.push(card);
      byButton.set(card.button, card);
      observer.observe(card.button);
      items.append(card.item);
    }
  }
  for (const card of cards) if (favourites.has(card.filter.name)) favouriteItems.append(card.item);
  showRecent();

  /**
   * @param {string} title
   * @param {string} style The class of the list.
   * @returns {HTMLElement} The list.
   */
  function createSection(title, style) {
    const id = `category-${title.replace(" ", "-")}`;
    const items = element("ul", { class: style });
    byId("gallery").append(element("section", { class: "category", "aria-labelledby": id },
      element("h3", { id }, words(title)), items));
    return items;
  }

  function showRecent() {
    const used = recent.names.flatMap((name) => cards.find(({ filter }) => filter.name === name) ?? []);
    recentItems.replaceChildren(...used.map(({ filter, use }) => element("li", {
      "data-recent": filter.name,
    }, element("button", {
      type: "button", title: filter.summary, "aria-label": `Add ${words(filter.name)} again`,
      click: () => use(),
    }, words(filter.name)))));
    showFound();
  }

  /**
   * Moves a card to the favourites, or back into its category.
   *
   * @param {Card} card
   */
  function toggleFavourite(card) {
    const { filter, item, home } = card;
    const isFavourite = !favourites.has(filter.name);
    if (isFavourite) {
      favourites.add(filter.name);
      favouriteItems.append(item);
    } else {
      favourites.remove(filter.name);
      const following = cards.slice(cards.indexOf(card) + 1)
        .find((other) => other.item.parentElement === home);
      home.insertBefore(item, following?.item ?? null);
    }
    showFound();
    return isFavourite;
  }

  /** @param {KnownFilter} filter @param {HTMLElement} home @returns {Card} */
  function createCard(filter, home) {
    const canvas = element("canvas", { width: WIDTH, height: HEIGHT, "aria-hidden": "true" });
    const note = element("span", { class: "thumb-note", id: `note-${filter.name}`, hidden: true });
    const name = words(filter.name);
    const button = element("button", {
      type: "button", class: "thumb", "data-filter": filter.name, title: filter.summary,
      "aria-label": `Add ${name}. ${filter.summary}`, "aria-describedby": note.id,
      click: () => use(),
    }, canvas, note, element("span", { class: "thumb-name" }, name));
    makeDraggable(button, byId("stages"), name, use);
    const star = element("button", {
      type: "button", class: "star", title: "Favourite", "aria-label": `Favourite: ${name}`,
      "aria-pressed": String(favourites.has(filter.name)),
      click: () => {
        star.setAttribute("aria-pressed", String(toggleFavourite(card)));
        star.focus();
      },
    }, "★");
    const refusal = missing.has(filter) ? filter.summary : "";
    /** @type {Card} */
    const card = { filter, use, item: element("li", {}, button, star), home, button, canvas, note,
      isVisible: false, shownMs: -Infinity, refusal };
    if (refusal) mark(card, refusal);
    return card;

    /** @param {number} [index] */
    function use(index) {
      if (card.refusal) {
        context.explain(`${name} cannot run on this server: ${card.refusal}`);
        return;
      }
      context.add(filter.name, index);
      recent.add(filter.name);
      showRecent();
    }
  }

  /** @type {{jpeg: Uint8Array, picture: ImageBitmap, uses: number}|null} */
  let frame = null;

  async function currentFrame() {
    if (!frame || frame.uses >= PER_FRAME) {
      const jpeg = await context.frame(WIDTH);
      frame?.picture.close();
      frame = { jpeg, picture: await pictureOf(jpeg), uses: 0 };
    }
    frame.uses += 1;
    return frame;
  }

  /** @param {Card} card */
  async function refresh(card) {
    card.shownMs = performance.now();
    const pipeline = thumbnailPipeline(card.filter, catalogue, context.assets());
    if (typeof pipeline === "string") return mark(card, pipeline);
    const { jpeg, picture } = await currentFrame();
    const thumbnail = await session.filter(pipeline, jpeg);
    if (!thumbnail) return;
    if (thumbnail.refusal) {
      const { code, sentence } = thumbnail.refusal;
      if (code === UNAVAILABLE) card.refusal = sentence;
      return mark(card, sentence);
    }
    card.refusal = "";
    mark(card, "");
    const filtered = thumbnail.jpeg ? await pictureOf(thumbnail.jpeg) : picture;
    card.canvas.getContext("2d")?.drawImage(filtered, 0, 0, WIDTH, HEIGHT);
    card.button.dataset.shown = String(Number(card.button.dataset.shown ?? 0) + 1);
    if (filtered !== picture) filtered.close();
  }

  async function refreshNext() {
    const visible = cards.filter(({ filter, isVisible, item }) =>
      isVisible && !item.hidden && !missing.has(filter));
    const oldest = visible.reduce((one, other) => (other.shownMs < one.shownMs ? other : one),
      visible[0]);
    try {
      if (oldest && !document.hidden) await refresh(oldest);
    } finally {
      const isFirst = visible.some(({ shownMs }) => shownMs < 0);
      setTimeout(refreshNext, !context.isOverloaded() ? PERIOD_MS
        : isFirst ? OVERLOADED_FIRST_MS : OVERLOADED_MS);
    }
  }
  refreshNext();

  byId("search").oninput = showFound;

  /** Shows what the search finds, and hides categories without a filter. */
  function showFound() {
    const search = byId("search").value;
    for (const { item, filter } of cards) item.hidden = !isFound(filter, search);
    for (const item of recentItems.querySelectorAll("li")) item.hidden = Boolean(search);
    for (const category of byId("gallery").children) {
      category.hidden = !category.querySelector("li:not([hidden])");
    }
    byId("gallery-none").hidden = cards.some(({ item }) => !item.hidden);
  }
}

/**
 * Marks a card whose filter cannot be shown.
 *
 * @param {Card} card
 * @param {string} reason
 */
function mark({ item, button, note }, reason) {
  note.textContent = reason;
  note.hidden = !reason;
  button.classList.toggle("unavailable", Boolean(reason));
  item.classList.toggle("wide", reason.length > LONG);
}

/**
 * Returns the pipeline of a thumbnail, or the reason why it is missing.
 *
 * @param {KnownFilter} filter
 * @param {Catalogue} catalogue
 * @param {Asset[]} assets
 * @returns {Pipeline|string}
 */
function thumbnailPipeline(filter, catalogue, assets) {
  const parameters = catalogue.exampleOf(filter.name);
  for (const { name, kind, defaultValue, limits } of filter.parameters) {
    const pixels = defaultValue?.number;
    if (kind === "LENGTH" && pixels && !parameters.has(name)) {
      parameters.set(name, { number: Math.max(pixels * SCALE, limits?.minimum ?? 0) });
    }
  }
  for (const { name } of catalogue.requiredOf(filter.name)) {
    const asset = assetFor(filter.name, assets);
    if (!asset) {
      return filter.name === "colorCube" ? "Needs a .cube file: drop one on the picture"
        : "Needs an image: drop one on the picture";
    }
    parameters.set(name, { text: asset.name });
  }
  return {
    workingSpace: "UNSPECIFIED",
    stages: [{
      id: "", failurePolicy: "UNSPECIFIED", filter: { name: filter.name, parameters },
    }],
  };
}

/**
 * Returns an asset that a filter can use.
 *
 * @param {string} filter
 * @param {Asset[]} assets
 */
export function assetFor(filter, assets) {
  const kind = filter === "colorCube" ? "CUBE" : "IMAGE";
  return assets.find((asset) => asset.kind === kind);
}

/** @param {Uint8Array} jpeg */
function pictureOf(jpeg) {
  return createImageBitmap(
    new Blob([jpeg], { type: "image/jpeg" }));
}
