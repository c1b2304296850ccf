/** Writes a ZIP file without compression (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT). */

export interface ZipEntry {
  /** With `/` between folders. */
  readonly name: string;
  readonly content: Uint8Array<ArrayBuffer>;
}

/** What fits without the extension for larger files. */
export const MAX_ZIP_ENTRIES = 65_535;
export const MAX_ZIP_BYTES = 4_000_000_000;

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
/** Names are UTF-8. */
const FLAGS = 0x0800;

/** Adds the entries one by one, so that the browser can keep what was added on its disk. */
export class Zip {
  readonly #parts: Blob[] = [];
  readonly #directory: Uint8Array<ArrayBuffer>[] = [];
  readonly #at: number;
  #offset = 0;

  /** @param at when the files were made, in UTC */
  constructor(at: Date) {
    this.#at = dosTime(at);
  }

  add({ name, content }: ZipEntry): void {
    const path = new TextEncoder().encode(name);
    const about = [VERSION, FLAGS, 0];
    const sizes = [crc32(content), content.length, content.length];
    const local = fields([4, LOCAL], ...about.map(short), [4, this.#at], ...sizes.map(long), [2, path.length], [2, 0]);
    this.#parts.push(new Blob([local, path, content]));
    this.#directory.push(
      fields(
        [4, CENTRAL],
        [2, VERSION],
        ...about.map(short),
        [4, this.#at],
        ...sizes.map(long),
        [2, path.length],
        // No extra field, no comment, one disk, no attributes.
        ...[0, 0, 0, 0].map(short),
        [4, 0],
        [4, this.#offset],
      ),
      path,
    );
    this.#offset += local.length + path.length + content.length;
  }

  finish(): Blob {
    const entries = this.#directory.length / 2;
    const size = this.#directory.reduce((sum, { length }) => sum + length, 0);
    const end = fields([4, END], ...[0, 0, entries, entries].map(short), [4, size], [4, this.#offset], [2, 0]);
    return new Blob([...this.#parts, ...this.#directory, end], { type: "application/zip" });
  }
}

type Field = readonly [size: 2 | 4, value: number];
const short = (value: number): Field => [2, value];
const long = (value: number): Field => [4, value];

/** Numbers with the low byte first. */
function fields(...list: readonly Field[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(list.reduce((sum, [size]) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [size, value] of list) {
    if (size === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += size;
  }
  return bytes;
}

/** Time and date of MS-DOS, in steps of two seconds. */
const dosTime = (at: Date): number =>
  ((((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()) * 0x10000 +
    ((at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1))) >>>
  0;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return ~crc >>> 0;
}
