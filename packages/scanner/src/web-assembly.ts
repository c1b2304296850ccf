/** The part of the JavaScript API of WebAssembly that is used here. Node has no types for it. */
export interface WebAssemblyApi {
  readonly validate: (bytes: Uint8Array) => boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

/** `undefined` in a runtime without WebAssembly. */
export const webAssembly = (): WebAssemblyApi | undefined =>
  (globalThis as unknown as { WebAssembly?: WebAssemblyApi }).WebAssembly;
