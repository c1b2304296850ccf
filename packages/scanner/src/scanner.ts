import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CAPTURED, type CatalogIndex, defineCatalog, type Member } from "./catalog-index.ts";
import { type WebAssemblyApi, webAssembly } from "./web-assembly.ts";

/** The result for a body that is certainly valid. Positions count bytes of the body. */
export interface Scan {
  readonly index: CatalogIndex;
  /** Members at all depths. */
  readonly members: number;
  /** Whether a string holds a Unicode escape (`\u`), or the name of a member holds an escape of any kind. */
  readonly escapes: boolean;
  /** The bytes of `observations`. */
  readonly start: number;
  readonly end: number;
  /**
   * Start and length of each captured text, in the order of `CAPTURED`. The text of a field's value includes its
   * quotes.
   */
  readonly captures: Uint32Array;
  /** Codes of the outcomes of the catalog's probes, in its order. */
  readonly outcomes: Uint8Array;
  readonly unknownOutcomes: Uint8Array;
  /** A bit for each entry of the catalog's index: it is set if the event has the entry. */
  readonly seen: Uint8Array;
  /** Five words for each departure from the catalog: kind, type found, place, start and length of a name. */
  readonly departures: Uint32Array;
}

/** What an event has. The arrays are the memory of the scanner, and valid until its next scan. */
export interface EventScan {
  /** Codes of the outcomes of the catalog's probes, in its order. */
  readonly outcomes: Uint8Array;
  /** A bit for each entry of the catalog's index: it is set if the event has the entry. */
  readonly seen: Uint8Array;
  /** Start and end of the value of each field that the event has, by the number of its entry. */
  readonly values: Uint32Array;
}

export interface BodyScanner {
  /**
   * @returns `undefined` for a body that is invalid or that only the slow path can decide about.
   * @throws for an error of the scanner itself.
   */
  scan(body: Uint8Array): Scan | undefined;
}

export interface EventScanner {
  readonly index: CatalogIndex;
  /** Scans an event without its transport object. @returns and throws as `scan` does. */
  scanEvent(event: Uint8Array): EventScan | undefined;
}

/** The exports of `assembly/scanner.ts`. */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer };
  readonly open: (context: number, isOpen: number) => void;
  readonly define: (...numbers: number[]) => number;
  readonly scan: (length: number, root: number, outcomes: number) => number;
}

const ADDRESSES = [
  "CAPACITY",
  "RESULT",
  "CAPTURES",
  "OUTCOMES",
  "SEEN",
  "RESULT_END",
  "UNKNOWN_OUTCOMES",
  "DEPARTURES",
  "VALUES",
  "INPUT",
] as const;
type Addresses = Readonly<Record<(typeof ADDRESSES)[number], number>>;

const DEPARTURE_WORDS = 5;
const NO_DEPARTURES = new Uint32Array(0);
const NO_OUTCOMES = new Uint8Array(0);

/** The module that `npm run generate:scanner` compiled. */
let compiled: object | undefined;

/**
 * One instance of the compiled scanner. Its memory has a fixed size, and no scan depends on the body of an earlier
 * scan.
 */
class WasmScanner implements BodyScanner, EventScanner {
  readonly #exports: Exports;
  readonly #at: Addresses;
  readonly #bytes: Uint8Array;
  readonly #words: Uint32Array;
  readonly index: CatalogIndex;
  readonly #event: EventScan;
  #contexts = 0;

  constructor({ Module, Instance }: WebAssemblyApi) {
    compiled ??= new Module(readFileSync(join(import.meta.dirname, "scanner.wasm")));
    const exports = new Instance(compiled).exports as Exports & Readonly<Record<keyof Addresses, { value: number }>>;
    this.#exports = exports;
    this.#at = Object.fromEntries(ADDRESSES.map((name) => [name, exports[name].value])) as Addresses;
    const { buffer } = this.#exports.memory;
    this.#bytes = new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
    this.index = defineCatalog((isOpen, members) => this.#define(isOpen, members));
    const { OUTCOMES, SEEN, RESULT_END, VALUES } = this.#at;
    this.#event = {
      outcomes: this.#bytes.subarray(OUTCOMES, SEEN),
      seen: this.#bytes.subarray(SEEN, RESULT_END),
      values: new Uint32Array(buffer, VALUES, 2 * this.index.paths.length),
    };
  }

  scanEvent(event: Uint8Array): EventScan | undefined {
    if (event.length > this.#at.CAPACITY) return undefined;
    this.#bytes.set(event, this.#at.INPUT);
    const { event: root, outcome } = this.index;
    return this.#exports.scan(event.length, root, outcome) === 0 ? undefined : this.#event;
  }

  scan(body: Uint8Array): Scan | undefined {
    const at = this.#at;
    if (body.length > at.CAPACITY) return undefined;
    this.#bytes.set(body, at.INPUT);
    const { index } = this;
    if (this.#exports.scan(body.length, index.root, index.outcome) === 0) return undefined;
    const { buffer } = this.#bytes.slice(at.RESULT, at.RESULT_END);
    const [members = 0, escapes, start = 0, end = 0, departures = 0, unknown = 0] = new Uint32Array(buffer, 0, 6);
    return {
      index,
      members,
      escapes: escapes === 1,
      start,
      end,
      captures: new Uint32Array(buffer, at.CAPTURES - at.RESULT, 2 * CAPTURED.length),
      outcomes: new Uint8Array(buffer, at.OUTCOMES - at.RESULT, at.SEEN - at.OUTCOMES),
      seen: new Uint8Array(buffer, at.SEEN - at.RESULT),
      departures: departures === 0 ? NO_DEPARTURES : this.#departures(departures),
      unknownOutcomes: unknown === 0 ? NO_OUTCOMES : this.#unknownOutcomes(unknown),
    };
  }

  #departures(count: number): Uint32Array {
    const first = this.#at.DEPARTURES / Uint32Array.BYTES_PER_ELEMENT;
    return this.#words.slice(first, first + count * DEPARTURE_WORDS);
  }

  #unknownOutcomes(count: number): Uint8Array {
    return this.#bytes.slice(this.#at.UNKNOWN_OUTCOMES, this.#at.UNKNOWN_OUTCOMES + count);
  }

  /** Contexts are numbered from 1. */
  #define(isOpen: boolean, members: readonly Member[]): number {
    const context = ++this.#contexts;
    this.#exports.open(context, Number(isOpen));
    for (const member of members) {
      const name = Buffer.from(member.name);
      this.#bytes.set(name, this.#at.INPUT);
      const { kind, child = 0, required = false, capture = 255, least = 0, most = 0, plain = false, mask = 0 } = member;
      const numbers = [child, Number(required), capture, least, most, Number(plain), mask];
      this.#exports.define(context, name.length, kind, ...numbers);
    }
    return context;
  }
}

/** @throws if the runtime has no WebAssembly with SIMD, or the module can't be read. */
export const openScanner = (): BodyScanner & EventScanner => new WasmScanner(webAssembly() as WebAssemblyApi);
