/**
 * Loads the page again if one of its files did not arrive, once; then says so. This file is no
 * module, so that it runs even if a module is missing.
 */
(() => {
  const KEY = "sidelight-studio-reloaded";
  addEventListener("error", ({ target }) => {
    if (!(target instanceof HTMLScriptElement || target instanceof HTMLLinkElement)) return;
    if (!sessionStorage.getItem(KEY)) {
      sessionStorage.setItem(KEY, "1");
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
