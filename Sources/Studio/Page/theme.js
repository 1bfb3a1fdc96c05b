/** The colours of the page: light, dark, or as the system. */

import { byId, icon } from "./shared/dom.js";

const KEY = "sidelight-studio-theme";
/** @type {["system", "light", "dark"]} */
const THEMES = ["system", "light", "dark"];
/** @type {Record<string, string>} */
const LABELS = { system: "as the system", light: "light", dark: "dark" };

/** Shows the button that changes the theme. */
export function showTheme() {
  const button = byId("theme");
  let theme = stored();

  function apply() {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    const label = `Theme: ${LABELS[theme]}`;
    button.setAttribute("aria-label", label);
    button.title = label;
    button.replaceChildren(icon(theme));
  }

  button.onclick = () => {
    theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
    localStorage.setItem(KEY, theme);
    apply();
  };
  apply();
}

function stored() {
  return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";
}
