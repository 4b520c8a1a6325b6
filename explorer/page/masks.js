// TensorFlow's five masks: a toggle for each entry.

/** The masks sent to the library: numbers, unless a link contains something else.
 * @type {Fields} */
const maskTexts = Object.fromEntries(MASKS.map((name) => [name, "0"]));

const MOST_ENTRIES = 31;

/** @param {string} name */
function bitsOf(name) {
  return Number(maskTexts[name]) | 0;
}

/** Returns the number of a mask's toggles: one per entry of begin, and more if higher bits are set.
 * @param {number} entries */
function togglesNeeded(entries) {
  const set = MASKS.map((name) => 32 - Math.clz32(bitsOf(name)));
  return Math.min(MOST_ENTRIES, Math.max(1, entries, ...set));
}

/** @param {string} name @param {number} bit @param {() => void} changed */
function toggle(name, bit, changed) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = String(bit);
  button.setAttribute("aria-label", `${name}, entry ${bit}`);
  button.setAttribute("aria-pressed", String((bitsOf(name) >> bit & 1) === 1));
  button.addEventListener("click", () => {
    maskTexts[name] = String(bitsOf(name) ^ 1 << bit);
    changed();
  });
  return button;
}

/** Draws the toggles again if their number or state has changed.
 * @param {number} entries @param {() => void} changed */
function drawMasks(entries, changed) {
  const place = find("masks");
  const count = togglesNeeded(entries);
  const state = `${count} ${MASKS.map((name) => maskTexts[name])}`;
  if (place.dataset.state === state) return;
  place.dataset.state = state;
  const had = document.activeElement instanceof HTMLElement && place.contains(document.activeElement)
    ? document.activeElement.getAttribute("aria-label") : null;
  place.replaceChildren(...MASKS.map((name) => {
    const row = document.createElement("div");
    row.className = "mask field";
    row.id = name;
    const label = document.createElement("span");
    label.textContent = name;
    const bits = document.createElement("span");
    bits.className = "bits";
    bits.setAttribute("role", "group");
    bits.setAttribute("aria-label", name);
    for (let bit = 0; bit < count; ++bit) bits.append(toggle(name, bit, changed));
    row.append(label, bits);
    return row;
  }));
  if (had) for (const button of place.querySelectorAll("button")) if (button.getAttribute("aria-label") === had) button.focus();
}
