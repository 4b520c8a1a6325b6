// The library, compiled to WebAssembly. A request is the text of the fields by name, and the answer is JSON.

/**
 * @typedef {{message: string, field: string, span: [number, number] | null}} Fault
 * @typedef {{name: string, heading: string, begins_row: boolean, svg: string, file?: string, notes: string[], cells: [string, number][]}} Picture
 * @typedef {{name: string, forward: string, gradient: string}} Snippet
 * @typedef {{error?: Fault, entries?: number, summary?: string, fields?: Fields, axes?: string[], result_axes?: string,
 *   shape?: string, result_shape?: string, explanation?: string,
 *   cost?: {read?: string, written?: string, error?: string}, warnings?: string[], pictures?: Picture[],
 *   code?: Snippet[]}} Answer
 * @typedef {Record<string, string>} Fields
 */

/** @param {string} text  The typed text, without field separators and characters that UTF-8 cannot encode. */
function harmless(text) {
  return text.replace(/\p{Surrogate}/gu, "\ufffd").replace(/[\0-\x08\x0b-\x1f\x7f]/g, " ");
}

function embeddedBinary() {
  const text = atob(find("wasm").textContent || "");
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** @returns {Promise<(fields: Fields) => Answer>} */
async function startEngine() {
  const library = await backsliceModule({ wasmBinary: embeddedBinary() });
  return (fields) => {
    const request = Object.entries(fields).map(([name, text]) => `${name}\x1f${harmless(text)}`).join("\x1e");
    const size = library.lengthBytesUTF8(request) + 1;
    const memory = library._malloc(size);
    library.stringToUTF8(request, memory, size);
    const answer = library.UTF8ToString(library._backslice_explore(memory));
    library._free(memory);
    return JSON.parse(answer);
  };
}
