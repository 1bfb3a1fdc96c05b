/** Short forms for the document. */

export { words } from "../shared/words.js";

/**
 * Returns the element with an ID.
 *
 * @param {string} id
 * @returns {any}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element #${id}`);
  return found;
}

/**
 * Creates an element. Attributes whose value is a function are listeners of that event; those whose
 * value is `null` or `false` are left out.
 *
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string)} children
 * @returns {any}
 */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key, value);
    else if (value !== null && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

/**
 * Saves a picture as a file of the user.
 *
 * @param {Blob} picture
 * @param {string} name
 */
export function save(picture, name) {
  const url = URL.createObjectURL(picture);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
