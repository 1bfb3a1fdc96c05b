/**
 * Stickers, privacy and backgrounds: stages with known IDs, and own pictures.
 *
 * @typedef {import("./assets.js").Assets} Assets
 * @typedef {import("./catalogue.js").Catalogue} Catalogue
 * @typedef {import("./selection.js").Selection} Selection
 */

import { pictureOf } from "./assets.js";
import { byId, element, words } from "../shared/dom.js";

/**
 * An effect: a stage that its ID identifies.
 *
 * @typedef {object} Effect
 * @property {string} id
 * @property {string} label
 * @property {string} filter
 * @property {string[]} needs The filters without which the server cannot do it.
 * @property {string} [asset]
 * @property {(matte: string, protect: string) => Record<string, string>} values
 */

/** @type {(id: string, anchor: string, scale: string, faceOffset: string) => Effect} */
const sticker = (id, anchor, scale, faceOffset) => ({
  id, label: words(id), filter: "overlay", needs: ["overlay", "faceDetection"], asset: id,
  values: () => ({ asset: id, anchor, scale, faceOffset }),
});

/** @type {(id: string) => Effect} */
const background = (id) => ({
  id, label: words(id), filter: "virtualBackground", needs: ["virtualBackground"], asset: id,
  values: (matte, protect) => ({ matte, backgroundImage: id, protect }),
});

/** @type {Record<string, Effect[]>} */
const EFFECTS = {
  Stickers: [
    sticker("glasses", "eyes", "1", "[0, 0]"),
    sticker("moustache", "mouth", "0.6", "[0, -0.1]"),
    sticker("hat", "forehead", "1.7", "[0, -0.52]"),
  ],
  Privacy: [
    { id: "face-blur", label: "Blur faces", filter: "faceBlur", needs: ["faceBlur"],
      values: () => ({}) },
    { id: "face-pixellate", label: "Pixellate faces", filter: "facePixellate",
      needs: ["facePixellate"], values: () => ({}) },
  ],
  Backgrounds: [
    { id: "background-blur", label: "Blur", filter: "backgroundBlur", needs: ["backgroundBlur"],
      values: (matte) => ({ matte }) },
    background("office"),
    background("gradient"),
  ],
};

/** The stage of the own picture. */
const OWN = "own-picture";

/** @type {Record<string, string>} */
const MATTES = { plate: "The empty room", key: "The wall's colour", portrait: "A face (blur)" };

/**
 * Fills the section of effects.
 *
 * @param {Catalogue} catalogue
 * @param {Selection} selection
 * @param {Assets} assets
 */
export function showEffects(catalogue, selection, assets) {
  const section = byId("effects");
  const problem = element("p", { class: "error", role: "alert", hidden: true });
  /** @type {HTMLButtonElement[]} */
  const buttons = [];
  const matte = matteChoice(catalogue);
  const protect = element("input", { id: "background-protect", type: "checkbox", role: "switch",
    title: "Also hides frames that cannot be filtered" });
  const use = element("select", { id: "picture-use" },
    element("option", { value: "sticker" }, "Sticker"),
    element("option", { value: "background" }, "Background"));
  const file = element("input", { id: "picture", type: "file", accept: "image/png,image/jpeg",
    change: () => file.files[0] && useOwnPicture(file.files[0]) });

  section.replaceChildren();
  for (const [title, effects] of Object.entries(EFFECTS)) {
    const group = element("div", { class: "chips", role: "group", "aria-label": title });
    for (const effect of effects) {
      const isAvailable = catalogue.has(effect.needs);
      const button = element("button", { "data-effect": effect.id, "aria-pressed": "false",
        disabled: !isAvailable,
        title: isAvailable ? `${effect.filter}` : "This server cannot do it, or does not allow it.",
        click: () => showErrorOf(() => toggle(effect)) },
      ...(effect.asset ? [element("img", { src: pictureOf(effect.asset), alt: "" })] : []),
      effect.label);
      buttons.push(button);
      group.append(button);
    }
    section.append(element("h3", {}, title), group);
  }
  section.append(
    labelled("Background known from", matte),
    labelled("Show nothing until it is known", protect),
    element("h3", {}, "Own picture"),
    element("div", { class: "row" },
      element("label", { class: "button", for: "picture" }, "Choose a picture"), file,
      element("label", { for: "picture-use", class: "hidden" }, "Use of the picture"), use),
    element("p", { class: "hint" }, "Or drop a picture on the own tile."),
    problem);

  /** @param {Effect} effect */
  async function toggle(effect) {
    const selected = selection.find({ id: effect.id });
    if (selected) return selection.remove(selected.path);
    if (effect.asset) await assets.offered(effect.asset);
    // Not `add`: an earlier press may still be on its way.
    return selection.toggle(
      effect.filter, { id: effect.id, isFirst: true,
        values: effect.values(matteFor(effect), String(protect.checked)) });
  }

  /** @param {Effect} effect */
  function matteFor(effect) {
    const choices = catalogue.parameter(effect.filter, "matte")?.choices ?? [];
    return choices.includes(matte.value) ? matte.value : choices[0];
  }

  /** @param {Blob} picture */
  async function useOwnPicture(picture) {
    await showErrorOf(async () => {
      await assets.put(OWN, picture);
      const selected = selection.find({ id: OWN });
      if (selected) await selection.remove(OWN);
      if (use.value === "background") {
        const values = { backgroundImage: OWN, matte: matte.value === "key" ? "key" : "plate",
          protect: String(protect.checked) };
        await selection.add("virtualBackground", { id: OWN, values, isFirst: true });
      } else {
        const values = { asset: OWN, origin: "(0.7w, 0.05h)", width: "0.25w", height: "0.25h" };
        await selection.add("overlay", { id: OWN, values, isFirst: true });
      }
    });
  }

  /** @param {() => Promise<unknown>} action */
  async function showErrorOf(action) {
    problem.hidden = true;
    try {
      await action();
    } catch (error) {
      problem.textContent = error instanceof Error ? error.message : String(error);
      problem.hidden = false;
    }
  }

  selection.addEventListener("change", () => {
    for (const button of buttons) {
      const isSelected = Boolean(selection.find({ id: button.dataset.effect }));
      button.setAttribute("aria-pressed", String(isSelected));
    }
  });
  return { useOwnPicture };
}

/** @param {Catalogue} catalogue */
function matteChoice(catalogue) {
  const choices = new Set(["virtualBackground", "backgroundBlur"].flatMap((filter) =>
    catalogue.parameter(filter, "matte")?.choices ?? []));
  const options = [...choices].map((name) =>
    element("option", { value: name }, MATTES[name] ?? `Model ${name}`));
  return element("select", { id: "matte" }, ...options);
}

/** @param {string} text @param {HTMLElement} input */
function labelled(text, input) {
  return element("div", { class: "parameter" }, element("label", { for: input.id }, text), input);
}
