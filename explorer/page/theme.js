// The light or dark theme, by default the system's. Runs before anything is drawn.

/** @param {boolean} dark */
function setDark(dark) {
  document.documentElement.classList.toggle("dark", dark);
  document.getElementById("theme")?.setAttribute("aria-pressed", String(dark));
}

{
  const system = matchMedia("(prefers-color-scheme: dark)");
  setDark(system.matches);
  system.addEventListener("change", () => setDark(system.matches));
}
