/**
 * The sessions that pages of this browser open for themselves, for thumbnails and measurements.
 * Operators are not offered them. They are known by ID, because any client may use their labels.
 */

const KEY = "sidelight-studio-own-sessions";
/** The number of sessions that are known; older ones have ended. */
const MAX_SESSIONS = 64;

/** @returns {string[]} */
function known() {
  return (localStorage.getItem(KEY) ?? "").split(" ");
}

/** @param {string} sessionId */
export function rememberOwnSession(sessionId) {
  localStorage.setItem(KEY, [...known(), sessionId].slice(-MAX_SESSIONS).join(" "));
}

/** Returns a function that tells whether a session is one of them. */
export function ownSessions() {
  const sessions = new Set(known());
  return (/** @type {string} */ sessionId) => sessions.has(sessionId);
}
