/** Values of the last seconds, and their percentiles. */

/** Values with their times, on the clock of `performance.now()`, in milliseconds. */
export class TimeWindow {
  /** @type {{atMs: number, value: number}[]} */
  #entries = [];

  /** @param {number} lengthMs */
  constructor(lengthMs) {
    this.lengthMs = lengthMs;
  }

  /** @param {number} value @param {number} [atMs] */
  add(value, atMs = performance.now()) {
    this.#entries.push({ atMs, value });
    this.#expire(atMs);
  }

  /**
   * Returns the entries, oldest first.
   *
   * @param {number} [nowMs]
   */
  entries(nowMs = performance.now()) {
    this.#expire(nowMs);
    return this.#entries;
  }

  /**
   * Returns the values per second.
   *
   * @param {number} [nowMs]
   */
  rate(nowMs = performance.now()) {
    return this.entries(nowMs).reduce((sum, { value }) => sum + value, 0) * 1000 / this.lengthMs;
  }

  /**
   * Returns percentiles by the nearest rank; `NaN` without values.
   *
   * @param {number[]} parts 0-1.
   */
  percentiles(parts) {
    const sorted = this.entries().map(({ value }) => value).sort((one, other) => one - other);
    return parts.map((part) =>
      sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN);
  }

  /** @param {number} nowMs */
  #expire(nowMs) {
    const first = this.#entries.findIndex(({ atMs }) => atMs > nowMs - this.lengthMs);
    this.#entries.splice(0, first < 0 ? this.#entries.length : first);
  }
}
