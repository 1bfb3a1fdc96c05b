/**
 * @typedef {import("./session.js").Session} Session
 */

/**
 * Returns the next event of some types, or `end`.
 *
 * @param {Session} session
 * @param {string[]} types
 * @returns {Promise<{type: string, detail: any}>}
 */
export function nextEvent(session, types) {
  return new Promise((resolve) => {
    const ended = new AbortController();
    for (const type of [...types, "end"]) {
      session.addEventListener(type, (event) => {
        ended.abort();
        resolve({ type, detail: /** @type {CustomEvent} */ (event).detail });
      }, { signal: ended.signal });
    }
  });
}
