// The page: reads fields and shows answers.

/** @type {(fields: Fields) => Answer} */
let ask;
let tab = "slice";
let from = "python";
let entries = 0;  // of TensorFlow's lists, counted by the library
let linkTimer = 0;
/** @type {Record<string, Fields>} */
const kept = structuredClone(FIRST);  // the content of each tab

/** Opens one notation on a small screen, which has no room for more beside the pictures. */
function foldNotations() {
  const isNarrow = matchMedia("(max-width: 800px)").matches;
  for (const name of Object.keys(NOTATIONS)) {
    /** @type {HTMLDetailsElement} */ (find(`notation-${name}`)).open = !isNarrow || name === from;
  }
}

/** Returns the text of every field of the tab. */
function typed() {
  const names = tab === "slice" ? ["shape", "more", ...Object.values(NOTATIONS).flat()] : Object.keys(FIRST[tab]);
  return Object.fromEntries(names.map((name) => [name, MASKS.includes(name) ? maskTexts[name] : control(tab, name).value]));
}

/** Returns the room for pictures. */
function room() {
  const wide = find("results").clientWidth;
  const columns = Math.max(6, Math.min(24, Math.floor((wide - 90) / 30)));
  const across = Math.max(1, Math.min(3, Math.floor(wide / 260)));
  return { rows: "16", columns: String(columns), panels: wide < 500 ? "4" : "6", across: String(across) };
}

/** @param {Fields} fields */
function show(fields) {
  for (const [name, text] of Object.entries(fields)) {
    if (MASKS.includes(name)) maskTexts[name] = text;
    else control(tab, name).value = text;
  }
}

/** Writes the library's answer into the notations that the user did not type.
 * @param {Fields} fields */
function fillOthers(fields) {
  show(Object.fromEntries(Object.entries(fields).filter(([name]) => !NOTATIONS[from].includes(name))));
}

/** Updates the address when typing pauses, since browsers allow only some hundred changes per minute. */
function keepLink() {
  clearTimeout(linkTimer);
  linkTimer = window.setTimeout(writeLink, 200);
}

function writeLink() {
  clearTimeout(linkTimer);
  try {
    history.replaceState(null, "", linkOf(tab, from, typed()));
  } catch { /* still too many for this browser: the next one is kept */ }
}

/** Returns the SVG file of a picture in the answer to that request.
 * @param {Fields} asked @param {string} name */
function fileOf(asked, name) {
  return ask({ ...asked, file: name }).pictures?.find((picture) => picture.name === name)?.file || "";
}

function update() {
  clearError();
  const fields = typed();
  const asked = { tab, from, ...room(), ...fields };
  const answer = ask(asked);
  entries = answer.entries ?? entries;
  const results = find("results");
  const isStale = answer.error !== undefined && results.classList.contains("drawn");
  results.classList.toggle("stale", isStale);
  for (const name of Object.keys(NOTATIONS)) {
    find(`notation-${name}`).classList.toggle("stale", isStale && name !== from);
  }
  if (!answer.error && tab === "slice") fillOthers(answer.fields || {});
  if (tab === "slice") drawMasks(entries, () => { from = "tf"; update(); });
  if (answer.error) showError(answer.error, tab, from);
  else showAnswer(answer, tab === "slice", (name) => fileOf(asked, name));
  if (answer.error && !isStale) find("summary").textContent = "Nothing is drawn yet: the message under the field says why.";
  kept[tab] = Object.fromEntries(fieldsOf(tab, from).map((name) => [name, fields[name]]));
  keepLink();
}

/** @param {string} chosen */
function choose(chosen) {
  tab = chosen;
  for (const name of TABS) {
    const button = find(`tab-${name}`);
    button.setAttribute("aria-selected", String(name === tab));
    button.tabIndex = name === tab ? 0 : -1;
    find(`panel-${name}`).hidden = name !== tab;
  }
}

function openLink() {
  const read = readLink(location.hash);
  from = read.from;
  for (const name of MASKS) maskTexts[name] = "0";
  choose(read.tab);
  show(read.fields);
  foldNotations();
  /** @type {HTMLDetailsElement} */ (find("more-slices")).open = Boolean(read.fields.more);
  update();
  find("problem").textContent = read.problem;
}

function listenToTheme() {
  const isDark = () => document.documentElement.classList.contains("dark");
  setDark(isDark());  // the button to switch exists now
  find("theme").addEventListener("click", () => setDark(!isDark()));
}

function listenToFields() {
  for (const name of ["shape", "more", ...Object.values(NOTATIONS).flat().filter((n) => !MASKS.includes(n))]) {
    control("slice", name).addEventListener("input", () => {
      from = Object.keys(NOTATIONS).find((notation) => NOTATIONS[notation].includes(name)) || from;
      update();
    });
  }
  for (const other of ["sparse", "ragged"]) {
    for (const name of Object.keys(FIRST[other])) control(other, name).addEventListener("input", update);
  }
  find("panel-slice").closest("form")?.addEventListener("submit", (event) => event.preventDefault());
}

function listenToTabs() {
  const open = (/** @type {string} */ chosen) => {
    choose(chosen);
    show(kept[chosen]);
    update();
    find(`tab-${chosen}`).focus();
  };
  TABS.forEach((name, i) => {
    const button = find(`tab-${name}`);
    button.addEventListener("click", () => open(name));
    button.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step !== 0) open(TABS[(i + step + TABS.length) % TABS.length]);
    });
  });
}

function listenToWindow() {
  addEventListener("hashchange", openLink);
  addEventListener("pagehide", writeLink);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;  // a phone's bars come and go without changing the width
    width = innerWidth;
    update();
  });
  find("copy-link").addEventListener("click", (event) => {
    writeLink();
    copy(/** @type {HTMLButtonElement} */ (event.currentTarget), location.href);
  });
}

async function start() {
  listenToTheme();
  ask = await startEngine();
  listenToFields();
  listenToTabs();
  listenToWindow();
  openLink();
  find("results").setAttribute("aria-busy", "false");
  performance.measure("first picture", { start: 0 });
  Object.assign(globalThis, { backsliceExplorer: { ask } });
}

start().catch((error) => {
  find("problem").textContent = `The explorer could not start: ${error instanceof Error ? error.message : error}`;
});
