/** Short forms for the document. */

export { words } from "./words.js";

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
 * value is `null`, `undefined` or `false` are left out.
 *
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node|string)} children
 * @returns {any}
 */
export function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") created.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) {
      created.setAttribute(key, value === true ? "" : value);
    }
  }
  created.append(...children);
  return created;
}

/**
 * Creates an icon of the sheet in `index.html`.
 *
 * @param {string} name
 */
export function icon(name) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(namespace, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/**
 * Creates a button with an icon only.
 *
 * @param {string} name The icon.
 * @param {string} label
 * @param {Record<string, any>} attributes
 */
export function iconButton(name, label, attributes) {
  return element("button",
    { type: "button", class: "icon-button", "aria-label": label, title: label, ...attributes },
    icon(name));
}

/**
 * Saves a file of the user.
 *
 * @param {Blob} file
 * @param {string} name
 */
export function save(file, name) {
  const url = URL.createObjectURL(file);
  const link = element("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Tells a screen reader something.
 *
 * @param {string} text
 */
export function announce(text) {
  byId("announcements").textContent = text;
}

/** @param {number} number @param {number} [digits] Significant digits. */
export function rounded(number, digits = 3) {
  return Number(number.toPrecision(digits));
}
