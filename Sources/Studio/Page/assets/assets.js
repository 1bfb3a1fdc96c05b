/**
 * The files that pipelines can name: the server's, and files that the user adds.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").Asset} Asset
 */

import { byId, element } from "../shared/dom.js";
import { server } from "../server.js";
import { RpcError } from "../sidelight/index.js";

/** The extensions of files that are assets; others are sources of frames. */
const TABLE = /\.cube$/i;
const MAX_NAME_LENGTH = 64;

/** The assets. Dispatches `change`. */
export class Assets extends EventTarget {
  /** @type {Asset[]} */
  list = [];
  #input = byId("asset-file");
  #status = byId("asset-status");
  /** @type {((asset: Asset) => void)|null} */
  #onAdded = null;

  constructor() {
    super();
    byId("add-asset").onclick = () => this.choose();
    this.#input.onchange = async () => {
      const [file] = this.#input.files;
      this.#input.value = "";
      const asset = file && await this.add(file);
      if (asset) this.#onAdded?.(asset);
      this.#onAdded = null;
    };
  }

  /**
   * Opens the choice of a file.
   *
   * @param {(asset: Asset) => void} [onAdded]
   */
  choose(onAdded) {
    this.#onAdded = onAdded ?? null;
    this.#input.click();
  }

  async load() {
    try {
      this.list = await server.listAssets();
    } catch (error) {
      this.#report(error);
    }
    this.#show();
  }

  /**
   * Uploads a file. Returns the asset, or `null` after an error, which is shown.
   *
   * @param {File} file
   * @returns {Promise<Asset|null>}
   */
  async add(file) {
    this.#status.className = "hint";
    this.#status.textContent = `Adding ${file.name}…`;
    try {
      const asset = await server.putAsset(assetName(file.name), file);
      await this.load();
      this.#status.textContent = `${asset.name} is ready.`;
      return asset;
    } catch (error) {
      this.#report(error);
      return null;
    }
  }

  /** @param {unknown} error */
  #report(error) {
    if (!(error instanceof RpcError)) throw error;
    this.#status.className = "problem";
    this.#status.textContent = error.sentence;
  }

  #show() {
    const items = this.list.map(({ name, kind, width, height, entries, origin }) =>
      element("li", { "data-asset": name },
        element("code", {}, name),
        element("span", { class: "hint" },
          kind === "IMAGE" ? ` ${width} × ${height}` : ` table of ${entries}`,
          origin === "SERVER" ? ", of the server" : "")));
    byId("assets").replaceChildren(...items);
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * Whether a file is a colour table.
 *
 * @param {File} file
 */
export function isTable(file) {
  return TABLE.test(file.name);
}

/**
 * Returns a valid name of an asset: 1 to 64 of `A-Z a-z 0-9 . _ - /`, the first a letter or
 * a digit.
 *
 * @param {string} name
 */
export function assetName(name) {
  const valid = name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return valid.slice(-MAX_NAME_LENGTH).replace(/^[^A-Za-z0-9]+/, "") || "file";
}
