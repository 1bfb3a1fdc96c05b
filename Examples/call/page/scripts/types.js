/**
 * The types that modules share.
 *
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterDescription} Parameter
 * @typedef {import("../sidelight/Generated/message-types.js").ParameterValue} Value
 *
 * @typedef {object} Filter A filter of the catalogue.
 * @property {string} name
 * @property {string} summary
 * @property {string} category
 * @property {string} keywords Further words for searches.
 * @property {Parameter[]} parameters
 * @property {Record<string, Value>} example The parameters with which the filter is added.
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
