// Shows errors under the field that they are about.

function clearError() {
  document.getElementById("error")?.remove();
  for (const wrong of document.querySelectorAll("[aria-invalid]")) {
    wrong.removeAttribute("aria-invalid");
    wrong.removeAttribute("aria-describedby");
  }
}

/** Returns the text of a field with the wrong part marked. Of a long text, only the surroundings are shown.
 * @param {string} text @param {[number, number]} span */
function markedText(text, [begin, end]) {
  const first = Math.max(0, begin - 30), last = Math.min(text.length, Math.max(end, begin + 1) + 30);
  const shown = document.createElement("code");
  const part = document.createElement("mark");
  part.textContent = text.slice(begin, Math.min(end, begin + 200)) || " ";
  shown.append((first > 0 ? "…" : "") + text.slice(first, begin), part, text.slice(end, last) + (last < text.length ? "…" : ""));
  return shown;
}

/** Shows an error under its field. An error about no field, or about several, is shown under the first.
 * @param {Fault} fault @param {string} tab @param {string} from */
function showError(fault, tab, from) {
  const fields = fieldsOf(tab, from);
  const field = fields.includes(fault.field) ? fault.field : fields[tab === "slice" ? 1 : 0];
  const isMask = MASKS.includes(field);
  const input = isMask ? find(field) : control(tab, field);
  const error = document.createElement("p");
  error.className = "error";
  error.id = "error";
  error.setAttribute("role", "alert");
  error.textContent = fault.message.length > 600 ? fault.message.slice(0, 600) + " …" : fault.message;
  if (fault.span && !isMask) error.append(markedText(control(tab, field).value, fault.span));
  (input.closest(".field") || input).append(error);
  const folded = input.closest("details");
  if (folded) folded.open = true;
  if (!isMask) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", "error");
  }
}
