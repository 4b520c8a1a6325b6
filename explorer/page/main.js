// The page: fields in, answers out.

/** @type {(fields: Fields) => any} */
let ask;
let tab = "slice";
let from = "python";
/** @type {Record<string, Fields>} */
const kept = structuredClone(FIRST);  // what each tab holds

/** The text of every field of the tab, and how much room the pictures have. */
function request() {
  const wide = find("results").clientWidth;
  const columns = Math.max(6, Math.min(24, Math.floor((wide - 90) / 30)));
  const across = Math.max(1, Math.min(3, Math.floor(wide / 260)));
  /** @type {Fields} */
  const fields = { tab, from, rows: "16", columns: String(columns), panels: wide < 500 ? "4" : "6", across: String(across) };
  const names = tab === "slice" ? ["shape", "more", ...Object.values(NOTATIONS).flat()] : Object.keys(FIRST[tab]);
  for (const name of names) fields[name] = MASKS.includes(name) ? String(maskValues[name]) : control(tab, name).value;
  return fields;
}

/** @param {Fields} fields */
function show(fields) {
  for (const [name, text] of Object.entries(fields)) {
    if (MASKS.includes(name)) maskValues[name] = Number(text) | 0;
    else control(tab, name).value = text;
  }
}

/** Writes what the library answered into the notations that were not typed.
 * @param {Record<string, string | number>} fields */
function fillOthers(fields) {
  const typed = new Set(NOTATIONS[from]);
  for (const [name, value] of Object.entries(fields)) {
    if (typed.has(name)) continue;
    if (MASKS.includes(name)) maskValues[name] = Number(value);
    else control(tab, name).value = String(value);
  }
}

function clearError() {
  for (const error of document.querySelectorAll(".error")) error.remove();
  for (const wrong of document.querySelectorAll("[aria-invalid]")) {
    wrong.removeAttribute("aria-invalid");
    wrong.removeAttribute("aria-describedby");
  }
}

/** The text of a field with the part that is to blame marked; of a long one, what is around that part.
 * @param {string} text @param {[number, number]} span */
function markedText(text, [begin, end]) {
  const first = Math.max(0, begin - 30), last = Math.min(text.length, Math.max(end, begin + 1) + 30);
  const shown = document.createElement("code");
  const part = document.createElement("mark");
  part.textContent = text.slice(begin, Math.min(end, begin + 200)) || " ";
  shown.append((first > 0 ? "…" : "") + text.slice(first, begin), part, text.slice(end, last) + (last < text.length ? "…" : ""));
  return shown;
}

/** @param {Fault} fault */
function showError(fault) {
  const isMask = MASKS.includes(fault.field);
  const known = isMask || [...Object.keys(FIRST[tab]), ...(tab === "slice" ? Object.values(NOTATIONS).flat() : [])].includes(fault.field);
  const field = known ? fault.field : tab === "slice" ? NOTATIONS[from][0] : Object.keys(FIRST[tab])[0];
  const input = isMask ? find(field) : control(tab, field);
  const error = document.createElement("p");
  error.className = "error";
  error.id = "error";
  error.setAttribute("role", "alert");
  error.textContent = fault.message.length > 600 ? fault.message.slice(0, 600) + " …" : fault.message;
  if (fault.span && !isMask) error.append(markedText(control(tab, field).value, fault.span));
  (input.closest(".field") || input).append(error);
  if (field === "more") /** @type {HTMLDetailsElement} */ (find("more-slices")).open = true;
  if (!isMask) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "error");
  }
}

/** @param {HTMLButtonElement} button @param {string} text */
async function copy(button, text) {
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // pages from disk may not have it
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = said; }, 1200);
}

/** @param {Snippet[]} snippets */
function drawCode(snippets) {
  find("code").replaceChildren(...snippets.map((snippet) => {
    const whole = document.createElement("div");
    whole.className = "snippet";
    const top = document.createElement("div");
    const heading = document.createElement("h3");
    heading.textContent = snippet.name;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy the code for ${snippet.name}`);
    const text = `${snippet.forward}\n${snippet.gradient}`;
    button.addEventListener("click", () => copy(button, text));
    top.append(heading, button);
    const code = document.createElement("pre");
    code.tabIndex = 0;
    code.textContent = text;
    whole.append(top, code);
    return whole;
  }));
}

/** @param {string} bytes */
function readable(bytes) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  let value = Number(bytes), unit = 0;
  while (value >= 1024 && unit < units.length - 1) { value /= 1024; ++unit; }
  return `${unit === 0 ? value : value.toPrecision(3)} ${units[unit]}`;
}

/** @param {Answer} answer */
function summaryOf(answer) {
  if (tab === "slice") return `x[${answer.fields?.index}] of shape [${answer.shape}] gives shape [${answer.result_shape}]`;
  return tab === "sparse" ? "A window of a sparse matrix, and the gradient of the values" : "Ragged rows, and the gradient of their values";
}

/** @param {Answer} answer */
function showAnswer(answer) {
  const summary = summaryOf(answer);
  if (tab === "slice") fillOthers(answer.fields || {});
  find("summary").textContent = summary;
  const warnings = find("warnings");
  warnings.hidden = !answer.warnings?.length;
  warnings.replaceChildren(...(answer.warnings || []).map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
  drawPictures(answer.pictures || [], summary);
  find("results").classList.add("drawn");
  drawCode(answer.code || []);
  find("normal-form").hidden = tab !== "slice";
  find("explanation").textContent = answer.explanation || "";
  const cost = answer.cost || {};
  find("cost").textContent = cost.error ? `The gradient cannot be computed: ${cost.error}`
    : `The gradient in float32 reads ${readable(cost.read || "0")} and writes ${readable(cost.written || "0")}.`;
}

function update() {
  clearError();
  const fields = request();
  /** @type {Answer} */
  const answer = ask(fields);
  find("results").classList.toggle("stale", answer.error !== undefined);
  if (!answer.error) showAnswer(answer);
  if (tab === "slice") drawMasks(entriesIn(control(tab, "begin").value), () => { from = "tf"; update(); });
  if (answer.error) showError(answer.error);
  kept[tab] = Object.fromEntries(fieldsOf(tab, from).map((name) => [name, fields[name]]));
  try {
    history.replaceState(null, "", linkOf(tab, from, fields));
  } catch { /* too many changes at once for this browser: the next one is kept */ }
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
  find("results").classList.toggle("is-slice", tab === "slice");
}

function openLink() {
  const read = readLink(location.hash);
  from = read.from;
  for (const name of MASKS) maskValues[name] = 0;
  choose(read.tab);
  show(read.fields);
  /** @type {HTMLDetailsElement} */ (find("more-slices")).open = Boolean(read.fields.more);
  update();
  if (read.problem) find("summary").textContent = read.problem;
}

/** @param {boolean} dark @param {Palettes} palettes */
function setTheme(dark, palettes) {
  document.documentElement.classList.toggle("dark", dark);
  for (const [name, colour] of Object.entries(dark ? palettes.dark : palettes.light)) {
    document.documentElement.style.setProperty(`--${name}`, colour);
  }
  find("theme").setAttribute("aria-pressed", String(dark));
}

function listenToFields() {
  for (const name of ["shape", "more", ...Object.values(NOTATIONS).flat().filter((n) => !MASKS.includes(n))]) {
    control("slice", name).addEventListener("input", () => {
      const own = Object.keys(NOTATIONS).find((notation) => NOTATIONS[notation].includes(name));
      if (own) from = own;
      update();
    });
  }
  for (const other of ["sparse", "ragged"]) {
    for (const name of Object.keys(FIRST[other])) control(other, name).addEventListener("input", update);
  }
  find("panel-slice").closest("form")?.addEventListener("submit", (event) => event.preventDefault());
}

function listenToTabs() {
  TABS.forEach((name, i) => {
    const button = find(`tab-${name}`);
    const open = (/** @type {string} */ chosen) => {
      choose(chosen);
      if (chosen === "slice" && kept.slice.index === undefined) { /* its fields hold another notation */ }
      show(kept[chosen]);
      update();
      find(`tab-${chosen}`).focus();
    };
    button.addEventListener("click", () => open(name));
    button.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step !== 0) open(TABS[(i + step + TABS.length) % TABS.length]);
    });
  });
}

async function start() {
  ask = await startEngine();
  const palettes = ask({ tab: "style" });
  const system = matchMedia("(prefers-color-scheme: dark)");
  setTheme(system.matches, palettes);
  system.addEventListener("change", () => setTheme(system.matches, palettes));
  find("theme").addEventListener("click", () => setTheme(!document.documentElement.classList.contains("dark"), palettes));
  find("copy-link").addEventListener("click", (event) => copy(/** @type {HTMLButtonElement} */ (event.currentTarget), location.href));
  listenToFields();
  listenToTabs();
  addEventListener("hashchange", openLink);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; update(); } });
  openLink();
  performance.measure("first picture", { start: 0 });
  Object.assign(globalThis, { backsliceExplorer: { ask } });
}

start().catch((error) => {
  find("summary").textContent = `The explorer could not start: ${error instanceof Error ? error.message : error}`;
});
