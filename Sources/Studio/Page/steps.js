/** The hint of three steps for the first visit. */

import { byId } from "./shared/dom.js";

const KEY = "sidelight-studio-steps";
const STEPS = ["pick", "tune", "copy"];

/** The steps. */
export class Steps {
  #list = byId("steps");

  constructor() {
    this.#list.hidden = localStorage.getItem(KEY) === "hidden";
    byId("hide-steps").onclick = () => {
      localStorage.setItem(KEY, "hidden");
      this.#list.hidden = true;
      byId("studio").focus();
    };
  }

  /**
   * Marks a step as done.
   *
   * @param {"pick"|"tune"|"copy"} step
   */
  done(step) {
    byId(`step-${step}`).classList.add("done");
    if (STEPS.every((each) => byId(`step-${each}`).classList.contains("done"))) {
      localStorage.setItem(KEY, "hidden");
    }
  }
}
