// The fields of each tab: their names in the library, their first values, and the link that stores them.

const MASKS = ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"];

/** @type {Record<string, string[]>} */
const NOTATIONS = {
  python: ["index"],
  tf: ["begin", "end", "strides", ...MASKS],
  onnx: ["starts", "ends", "axes", "steps"],
};

/** @type {Record<string, Fields>} */
const FIRST = {
  slice: { shape: "4, 6", index: "1:3, ::2", more: "" },
  sparse: { shape: "5, 8", start: "1, 2", size: "3, 4", entries: "0, 3, 7\n1, 2, 5\n1, 6, 1\n2, 4, 8\n3, 3, 2\n3, 7, 4\n4, 0, 9" },
  ragged: { rows_text: "3, 1, 4\n1, 5\n\n9, 2, 6, 5", missing: "1" },
};

const TABS = Object.keys(FIRST);
const LONGEST_LINK = 200000;

/** @param {string} id */
function find(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no ${id}`);
  return found;
}

/** Returns the element of a tab's field.
 * @param {string} tab @param {string} field @returns {HTMLInputElement | HTMLTextAreaElement} */
function control(tab, field) {
  const id = tab === "sparse" && field === "shape" ? "sparse-shape" : field;
  return /** @type {HTMLInputElement} */ (find(id));
}

/** Returns the fields of a notation, or of a tab.
 * @param {string} tab @param {string} from */
function fieldsOf(tab, from) {
  return tab === "slice" ? ["shape", ...NOTATIONS[from], "more"] : Object.keys(FIRST[tab]);
}

/** @param {string} tab @param {string} from @param {Fields} fields */
function linkOf(tab, from, fields) {
  const kept = new URLSearchParams({ tab });
  if (tab === "slice") kept.set("from", from);
  for (const name of fieldsOf(tab, from)) {
    const isNothing = fields[name] === "" || (MASKS.includes(name) && fields[name] === "0");
    if (!isNothing) kept.set(name, fields[name]);
  }
  return "#" + kept.toString();
}

/** Returns the valid parts of a link.
 * @param {string} link @returns {{tab: string, from: string, fields: Fields, problem: string}} */
function readLink(link) {
  const kept = new URLSearchParams(link.slice(0, LONGEST_LINK).replace(/^#/, ""));
  const name = kept.get("tab") || "slice";
  const tab = TABS.includes(name) ? name : "slice";
  const wanted = kept.get("from") || "python";
  const from = Object.hasOwn(NOTATIONS, wanted) ? wanted : "python";
  const problem = link.length > LONGEST_LINK ? "The link is too long; only its beginning was read." : "";
  /** @type {Fields} */
  const fields = {};
  if (!fieldsOf(tab, from).some((name) => kept.has(name))) return { tab, from: "python", fields: { ...FIRST[tab] }, problem };
  for (const name of fieldsOf(tab, from)) fields[name] = harmless(kept.get(name) || (MASKS.includes(name) ? "0" : ""));
  return { tab, from, fields, problem };
}
