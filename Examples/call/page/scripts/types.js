/**
 * The types that modules share.
 *
 * @typedef {{minimum: number, maximum: number}} Range
 *
 * @typedef {"number"|"length"|"point"|"color"|"vector"|"flag"|"choice"|"asset"|"text"|
 *   "unknown"} ParameterKind The type of a parameter; `unknown`: one of a newer server.
 *
 * @typedef {object} Parameter A parameter of a filter.
 * @property {string} name
 * @property {ParameterKind} kind
 * @property {string|null} default The value in text form; `null`: required.
 * @property {Range|null} slider The range for a slider.
 * @property {Range|null} limits The range of valid values.
 * @property {string} unit The unit of a number: `rad`, `K`, `stops`, `px`, or empty.
 * @property {string[]} choices
 * @property {string} summary
 *
 * @typedef {object} Filter A filter of the catalogue.
 * @property {string} name
 * @property {string} summary
 * @property {string} category
 * @property {string} keywords Further words for searches.
 * @property {Parameter[]} parameters
 * @property {Record<string, string>} example The parameters in text form with which the filter is added.
 *
 * @typedef {object} Stage A stage of the selected pipeline.
 * @property {string} path The name by which commands refer to the stage: its ID or position.
 * @property {string} id The ID; empty without one.
 * @property {string} filter The name of the filter; empty for a nested pipeline.
 * @property {Map<string, string>} values The parameters in text form.
 * @property {string} content The text of a nested pipeline, in brackets.
 * @property {string[]} attributes Such as `@mix(0.5)`; without `@off`.
 * @property {boolean} active
 *
 * @typedef {number|boolean|string|number[]|{x: number, y: number}|
 *   {red: number, green: number, blue: number}} Value A parameter's value in a command.
 *
 * @typedef {object} CommandError The reason why the call server or Sidelight refused a command.
 * @property {string} code
 * @property {string} message
 * @property {string} [field]
 * @property {string} [suggestion]
 * @property {number} [line] Counted from 1.
 * @property {number} [column] Counted from 1.
 *
 * @typedef {{name: string, paused: boolean}} Participant
 */

export {};
