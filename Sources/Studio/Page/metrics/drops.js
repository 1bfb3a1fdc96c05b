/** The names of the reasons for which frames are dropped, for people. */

/** @type {Record<string, string>} */
const REASONS = {
  SUPERSEDED: "a newer frame came first",
  QUEUE_FULL: "the queue was full",
  LATE_ON_ARRIVAL: "too late on arrival",
  LATE_IN_PIPELINE: "too late in the pipeline",
  LATE_ON_OUTPUT: "too late to send",
  NO_CREDIT: "too many frames in flight",
  RATE_LIMITED: "above the frame rate limit",
  PAUSED: "the session is paused",
  INVALID_FRAME: "the frame is invalid",
  STAGE_FAILED: "a stage failed",
  DRAINING: "the server is shutting down",
  OUTPUT_SUPERSEDED: "the page read too slowly",
  NOT_DECODABLE: "an earlier frame is missing or damaged",
  NOT_SENT: "not sent, a newer picture came first",
};

/** @param {string|number} reason */
export function reasonText(reason) {
  return REASONS[reason] ?? String(reason).toLowerCase().replaceAll("_", " ");
}
