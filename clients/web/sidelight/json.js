/** Messages in protobuf's JSON mapping. */

import { schemaOf } from "./codec.js";

/**
 * Returns a message as an object for `JSON.stringify`. Fields with their defaults are left out. The
 * special forms of `google.protobuf` types, such as durations, are not supported.
 *
 * @param {string} type The full name, such as `sidelight.v1.Pipeline`.
 * @param {object} message
 * @returns {Record<string, unknown>}
 */
export function toJson(type, message) {
  /** @type {Record<string, unknown>} */
  const json = {};
  const values = /** @type {Record<string, any>} */ (message);
  for (const { name, kind, of, label } of schemaOf(type).fields) {
    const value = values[name];
    if (value === undefined) continue;
    if (label === "map") {
      const entries = [...value].map(([key, each]) => [key, valueJson(kind, of, each)]);
      if (entries.length) json[name] = Object.fromEntries(entries);
    } else if (label === "repeated") {
      const items = value.map((/** @type {unknown} */ each) => valueJson(kind, of, each));
      if (items.length) json[name] = items;
    } else if (label || kind === "message" || (value && value !== "UNSPECIFIED")) {
      json[name] = valueJson(kind, of, value);
    }
  }
  return json;
}

/** @param {string} kind @param {string} of @param {any} value @returns {unknown} */
function valueJson(kind, of, value) {
  switch (kind) {
    case "message": return toJson(of, value);
    case "enum": return typeof value === "number" ? value : prefixOf(of) + value;
    case "bytes": return btoa(String.fromCharCode(...value));
    case "double": case "float": return Number.isFinite(value) ? value : String(value);
    default: return kind.endsWith("64") ? String(value) : value;
  }
}

/**
 * Returns the prefix of the values of an enum: `LENGTH_UNIT_` of `sidelight.v1.LengthUnit`.
 *
 * @param {string} type
 */
function prefixOf(type) {
  const name = type.slice(type.lastIndexOf(".") + 1);
  return `${name.replace(/(?!^)([A-Z])/g, "_$1").toUpperCase()}_`;
}
