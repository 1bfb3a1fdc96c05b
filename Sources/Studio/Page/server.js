/** The server of the page. */

import { connect } from "./sidelight/index.js";

export const server = connect();

/** Returns whether the server no longer knows the page. */
export async function isSignedOut() {
  try {
    const { status } = await fetch("info.json", { cache: "no-store" });
    return status === 401 || status === 403;
  } catch {
    return false;
  }
}
