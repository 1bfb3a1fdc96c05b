/** Pictures of the participant at the server. */

import { reasonOf } from "./responses.js";

/** Pictures that the call server offers, by asset name. */
const OFFERED = {
  glasses: "/media/glasses.png", moustache: "/media/moustache.png", hat: "/media/hat.png",
  logo: "/media/logo.png", office: "/media/office.jpg", gradient: "/media/gradient.jpg",
};

/**
 * Returns the address of an offered picture.
 *
 * @param {string} name
 */
export function pictureOf(name) {
  return OFFERED[/** @type {keyof typeof OFFERED} */ (name)];
}

/** The participant's assets. Pictures are uploaded when they are used for the first time. */
export class Assets {
  /** @type {Map<string, Promise<void>>} */
  #uploads = new Map();

  /** @param {string} resources The path of the participant's resources. */
  constructor(resources) {
    this.resources = resources;
  }

  /** The uploaded pictures. */
  get uploaded() {
    return [...this.#uploads.keys()].map((name) => ({ name, kind: /** @type {const} */ ("IMAGE") }));
  }

  /**
   * Uploads one of the offered pictures, unless it was uploaded before.
   *
   * @param {string} name
   */
  async offered(name) {
    let upload = this.#uploads.get(name);
    if (!upload) {
      upload = this.#fetchAndPut(name);
      this.#uploads.set(name, upload);
    }
    try {
      await upload;
    } catch (error) {
      this.#uploads.delete(name);
      throw error;
    }
  }

  /** Returns the name of a picture; uploads one if necessary. */
  async any() {
    const [first] = this.#uploads.keys();
    if (!first) await this.offered("gradient");
    return first ?? "gradient";
  }

  /**
   * Uploads a picture, and replaces the one of the same name.
   *
   * @param {string} name
   * @param {Blob} picture
   */
  async put(name, picture) {
    const response = await fetch(
      `${this.resources}/assets/${encodeURIComponent(name)}`, { method: "PUT", body: picture });
    if (!response.ok) throw new Error(await reasonOf(response));
    this.#uploads.set(name, Promise.resolve());
  }

  /** @param {string} name */
  async #fetchAndPut(name) {
    const response = await fetch(pictureOf(name));
    if (!response.ok) throw new Error(`The picture ${name} is not available.`);
    await this.put(name, await response.blob());
  }
}
