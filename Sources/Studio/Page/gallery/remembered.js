/** Names of filters that the browser remembers, the newest first: favourites, and recently used. */
export class RememberedFilters {
  #key;
  #limit;

  /**
   * @param {string} key The key in the browser's storage.
   * @param {number} limit The number of names that are kept.
   */
  constructor(key, limit) {
    this.#key = key;
    this.#limit = limit;
  }

  /** @returns {string[]} */
  get names() {
    return (localStorage.getItem(this.#key) ?? "").split(" ").filter((name) => name);
  }

  /** @param {string} name */
  has(name) {
    return this.names.includes(name);
  }

  /** @param {string} name */
  add(name) {
    this.#save([name, ...this.names.filter((other) => other !== name)]);
  }

  /** @param {string} name */
  remove(name) {
    this.#save(this.names.filter((other) => other !== name));
  }

  /** @param {string[]} names */
  #save(names) {
    localStorage.setItem(this.#key, names.slice(0, this.#limit).join(" "));
  }
}
