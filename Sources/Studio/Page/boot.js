/**
 * Loads the page again if one of its files did not arrive, a few times; then says so. This file is
 * a plain script, so that it runs even if a module is missing.
 */
(() => {
  const KEY = "sidelight-studio-reloads";
  const MAX_RELOADS = 3;
  addEventListener("error", ({ target }) => {
    if (!(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    const reloads = Number(sessionStorage.getItem(KEY));
    if (reloads < MAX_RELOADS) {
      sessionStorage.setItem(KEY, String(reloads + 1));
      location.reload();
      return;
    }
    const banner = document.getElementById("banner");
    if (!banner) return;
    banner.textContent = "A part of the page did not arrive. Reload the page.";
    banner.hidden = false;
  }, { capture: true });
  addEventListener("studio-started", () => sessionStorage.removeItem(KEY));
})();
