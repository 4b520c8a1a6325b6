// Shows the library's answer: the summary, warnings, pictures, code and the normal form.

/** @param {HTMLButtonElement} button @param {string} text */
async function copy(button, text) {
  const label = button.dataset.label ??= button.textContent || "";
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // pages from disk may have no clipboard
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1200);
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

/** @param {Answer} answer @param {boolean} isSlice @param {(name: string) => string} fileOf  The SVG of a picture. */
function showAnswer(answer, isSlice, fileOf) {
  const summary = answer.summary || "";
  find("summary").textContent = summary;
  const warnings = find("warnings");
  warnings.hidden = !answer.warnings?.length;
  warnings.replaceChildren(...(answer.warnings || []).map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
  drawPictures(answer.pictures || [], summary, fileOf);
  find("results").classList.add("drawn");
  drawCode(answer.code || []);
  find("normal-form").hidden = !isSlice;
  find("explanation").textContent = answer.explanation || "";
  const cost = answer.cost || {};
  find("cost").textContent = cost.error ? `The gradient cannot be computed: ${cost.error}`
    : `The gradient in float32 reads ${readable(cost.read || "0")} and writes ${readable(cost.written || "0")}.`;
}
