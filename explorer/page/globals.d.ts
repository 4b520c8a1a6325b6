// What emscripten's script defines before those of the page.
declare function backsliceModule(options: { wasmBinary: Uint8Array }): Promise<{
  _malloc(bytes: number): number;
  _free(memory: number): void;
  _backslice_explore(request: number): number;
  lengthBytesUTF8(text: string): number;
  stringToUTF8(text: string, memory: number, bytes: number): void;
  UTF8ToString(memory: number): string;
}>;
