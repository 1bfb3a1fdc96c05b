/** Answers of the call server to requests. */

/**
 * Returns the reason why a request was refused, for the user.
 *
 * @param {Response} response
 */
export async function reasonOf(response) {
  const isJson = response.headers.get("Content-Type")?.startsWith("application/json");
  return isJson ? (await response.json()).error.message : response.text();
}
