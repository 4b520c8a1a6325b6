// Pictures, drawn by the library as SVG, with a note for each cell.

/** @typedef {{cells: SVGRectElement[], notes: [string, number][]}} Drawn */

/** @type {Drawn[]} */
let drawn = [];

/** @param {string} text @returns {SVGSVGElement} */
function parsedSvg(text) {
  const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
  return /** @type {any} */ (document.importNode(parsed.documentElement, true));
}

/** Marks the cell and all cells of the same element, and shows its note.
 * @param {Drawn} picture @param {number} i */
function point(picture, i) {
  unpoint();
  const [text, key] = picture.notes[i];
  picture.cells[i].classList.add("pointed");
  for (const other of drawn) {
    other.notes.forEach(([, otherKey], j) => {
      if (key >= 0 && otherKey === key) other.cells[j].classList.add("same");
    });
  }
  const place = find("pointed");
  place.textContent = text;
  place.classList.add("found");
}

function unpoint() {
  for (const cell of document.querySelectorAll("svg .pointed, svg .same")) cell.classList.remove("pointed", "same");
}

/** Returns the cell that an arrow key leads to: the nearest one in that direction.
 * @param {SVGRectElement[]} cells @param {number} from @param {string} key */
function neighbour(cells, from, key) {
  const x = (/** @type {number} */ i) => Number(cells[i].getAttribute("x"));
  const y = (/** @type {number} */ i) => Number(cells[i].getAttribute("y"));
  const along = key === "ArrowLeft" || key === "ArrowRight" ? x : y;
  const across = along === x ? y : x;
  const sign = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  let best = from, bestDistance = Infinity;
  for (let i = 0; i < cells.length; ++i) {
    const ahead = sign * (along(i) - along(from));
    const distance = ahead + 1000 * Math.abs(across(i) - across(from));  // cells of the same row or column first
    if (ahead > 0 && distance < bestDistance) {
      best = i;
      bestDistance = distance;
    }
  }
  return best;
}

/** @param {HTMLElement} place @param {Drawn} picture */
function listen(place, picture) {
  let current = -1;
  const go = (/** @type {number} */ i) => {
    current = i;
    point(picture, i);
    picture.cells[i].scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  place.addEventListener("pointermove", (event) => at(event));
  place.addEventListener("pointerdown", (event) => at(event));
  /** @param {PointerEvent} event */
  function at(event) {
    const i = picture.cells.indexOf(/** @type {SVGRectElement} */ (event.target));
    if (i >= 0 && i !== current) {
      current = i;
      point(picture, i);
    }
  }
  place.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "mouse") return;  // lifting a finger keeps the tapped cell marked
    current = -1;
    unpoint();
  });
  place.addEventListener("blur", unpoint);
  place.addEventListener("keydown", (event) => {
    if (!event.key.startsWith("Arrow") || picture.cells.length === 0) return;
    event.preventDefault();
    go(current < 0 ? 0 : neighbour(picture.cells, current, event.key));
  });
}

/** @param {string} name @param {string} text @param {string} heading */
function download(name, text, heading) {
  const image = parsedSvg(text);
  const title = image.querySelector("title");
  if (title) title.textContent = heading;
  const file = new Blob([new XMLSerializer().serializeToString(image)], { type: "image/svg+xml" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${name}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** @param {Picture} picture @param {string} summary @param {(name: string) => string} fileOf */
function figureOf(picture, summary, fileOf) {
  const figure = document.createElement("figure");
  figure.dataset.name = picture.name;
  const caption = document.createElement("figcaption");
  const heading = document.createElement("h3");
  heading.textContent = picture.heading;
  const save = document.createElement("button");
  save.type = "button";
  save.textContent = "SVG";
  save.setAttribute("aria-label", `Download “${picture.heading}” as SVG`);
  save.addEventListener("click", () => download(picture.name, fileOf(picture.name), `${picture.heading}: ${summary}`));
  caption.append(heading, save);
  const place = document.createElement("div");
  place.className = "drawing";
  place.tabIndex = 0;
  place.setAttribute("role", "group");
  place.setAttribute("aria-label", `${picture.heading}; arrow keys go from element to element`);
  const image = parsedSvg(picture.svg);
  image.querySelector("title")?.remove();  // browsers would show it over every cell
  image.setAttribute("aria-label", [picture.heading, summary, ...picture.notes].join(". "));
  place.append(image);
  figure.append(caption, place);
  for (const note of picture.notes) {
    const line = document.createElement("p");
    line.textContent = note;
    figure.append(line);
  }
  const cells = /** @type {SVGRectElement[]} */ ([...image.querySelectorAll("rect:not(.ground)")]);
  const held = { cells, notes: picture.cells };
  drawn.push(held);
  listen(place, held);
  return figure;
}

/** @param {Picture[]} pictures @param {string} summary @param {(name: string) => string} fileOf */
function drawPictures(pictures, summary, fileOf) {
  drawn = [];
  const place = find("pictures");
  place.replaceChildren();
  for (const picture of pictures) {
    if (picture.begins_row) place.append(Object.assign(document.createElement("div"), { className: "row-end" }));
    place.append(figureOf(picture, summary, fileOf));
  }
  const pointed = find("pointed");
  pointed.textContent = "Point at an element, tap it, or use the arrow keys, to see where it goes.";
  pointed.classList.remove("found");
  for (const key of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("#legend [data-kind]"))) {
    key.hidden = !pictures.some((picture) => picture.svg.includes(`class="${key.dataset.kind}"`));
  }
}
