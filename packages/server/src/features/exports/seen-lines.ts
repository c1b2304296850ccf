import { hash } from "node:crypto";

/** The table has three numbers for each text: two from its hash, and its line. */
const NUMBERS_PER_TEXT = 3;

/** Finds texts that occurred before. Each text takes 12 bytes and some free space, so that millions fit into memory. */
export class SeenLines {
  #slots = 1 << 12;
  #table = new Uint32Array(this.#slots * NUMBERS_PER_TEXT);
  #count = 0;

  /** @returns the line of the same text, if the text occurred before. */
  see(text: string, line: number): number | undefined {
    const digest = hash("sha256", text, "buffer");
    const [a, b] = [digest.readUInt32LE(0), digest.readUInt32LE(4)];
    const at = this.#find(a, b);
    const seen = this.#table[at + 2];
    if (seen !== 0) return seen;
    this.#table.set([a, b, line], at);
    this.#count++;
    if (this.#count * 4 > this.#slots * 3) this.#grow();
    return undefined;
  }

  /**
   * @returns the position of the hash, or a free position. Line numbers start at 1, so that 0 marks a free position.
   */
  #find(a: number, b: number): number {
    for (let slot = a % this.#slots; ; slot = (slot + 1) % this.#slots) {
      const at = slot * NUMBERS_PER_TEXT;
      const isFree = this.#table[at + 2] === 0;
      if (isFree || (this.#table[at] === a && this.#table[at + 1] === b)) return at;
    }
  }

  #grow(): void {
    const old = this.#table;
    this.#slots *= 2;
    this.#table = new Uint32Array(this.#slots * NUMBERS_PER_TEXT);
    for (let at = 0; at < old.length; at += NUMBERS_PER_TEXT) {
      const [a = 0, b = 0, line = 0] = old.subarray(at, at + NUMBERS_PER_TEXT);
      if (line !== 0) this.#table.set([a, b, line], this.#find(a, b));
    }
  }
}
