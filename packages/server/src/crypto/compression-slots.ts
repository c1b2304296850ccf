/**
 * Memory that two threads share. One thread submits events, the other one compresses them in the same order. A slot
 * holds an event, and later its compressed bytes. A thread reads a slot only after the other one has counted it as
 * submitted or as compressed, so that no slot has two readers or writers at a time.
 */

/** A power of two, so that the numbers of jobs may overflow. */
const SLOTS = 64;
const MAX_EVENT_BYTES = 32_768;
/** Compressed bytes can be longer than those of the event, by the header of a frame and the parts of the format. */
const MAX_ADDED_BYTES = 1_024;

/** Words of the head of the memory: numbers of jobs modulo 2^32, and flags. */
const SUBMITTED = 0;
const COMPRESSED = 1;
/** 1 while the compressing thread waits for a job. */
const WAITS = 2;
/** 1 from the message that results are ready until the other thread reads them. */
const TOLD = 3;
const HEAD_BYTES = 64;

/** The word of a slot with the length of its bytes. A negative length: the event could not be compressed. */
const LENGTH = 0;
const DATA_AT = 16;
const SLOT_BYTES = DATA_AT + MAX_EVENT_BYTES + MAX_ADDED_BYTES;

class SharedSlots {
  protected readonly head: Int32Array;
  readonly #words: Int32Array;
  readonly #bytes: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.head = new Int32Array(memory, 0, HEAD_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.#words = new Int32Array(memory);
    this.#bytes = Buffer.from(memory);
  }

  protected lengthOf(job: number): number {
    return this.#words[this.#wordAt(job)] as number;
  }

  protected setLength(job: number, length: number): void {
    this.#words[this.#wordAt(job)] = length;
  }

  protected dataOf(job: number, length: number): Buffer {
    const start = this.#start(job) + DATA_AT;
    return this.#bytes.subarray(start, start + length);
  }

  #wordAt(job: number): number {
    return this.#start(job) / Int32Array.BYTES_PER_ELEMENT + LENGTH;
  }

  #start(job: number): number {
    return HEAD_BYTES + (job & (SLOTS - 1)) * SLOT_BYTES;
  }
}

/** The side of the thread that answers requests. */
export class SubmittingSlots extends SharedSlots {
  readonly memory: SharedArrayBuffer;
  #submitted = 0;
  /** The number of the first job whose result was not read. */
  #unread = 0;

  constructor(memory = new SharedArrayBuffer(HEAD_BYTES + SLOTS * SLOT_BYTES)) {
    super(memory);
    this.memory = memory;
  }

  /** @returns whether a slot was free, and the event fits. */
  submit(bytes: Uint8Array): boolean {
    const isFull = ((this.#submitted - this.#unread) | 0) === SLOTS;
    // guard(false): no job overwrites another one whose result was not read
    // fails: packages/server/src/crypto/compression-thread.test.ts › more events than there are slots
    if (isFull || bytes.length > MAX_EVENT_BYTES) return false;
    const job = this.#submitted;
    this.setLength(job, bytes.length);
    this.dataOf(job, bytes.length).set(bytes);
    this.#submitted = (job + 1) | 0;
    Atomics.store(this.head, SUBMITTED, this.#submitted);
    if (Atomics.load(this.head, WAITS) === 1) Atomics.notify(this.head, SUBMITTED);
    return true;
  }

  /** The results that are ready, in the order of the jobs; `undefined` for an event that could not be compressed. */
  *results(): Generator<Buffer | undefined> {
    // A job that is done after this line sends another message.
    Atomics.store(this.head, TOLD, 0);
    const end = Atomics.load(this.head, COMPRESSED);
    while (this.#unread !== end) {
      const length = this.lengthOf(this.#unread);
      const compressed = length < 0 ? undefined : Buffer.from(this.dataOf(this.#unread, length));
      this.#unread = (this.#unread + 1) | 0;
      yield compressed;
    }
  }
}

/** The side of the compressing thread. */
export class CompressingSlots extends SharedSlots {
  /**
   * Does jobs, and waits for the next ones. Never returns.
   *
   * @param compress an exception of it fails one event.
   * @param tell sends the message that results are ready.
   */
  work(compress: (bytes: Buffer) => Buffer, tell: () => void): never {
    for (let job = Atomics.load(this.head, COMPRESSED); ; job = (job + 1) | 0) {
      this.#wait(job);
      this.setLength(job, this.#compress(job, compress));
      Atomics.store(this.head, COMPRESSED, (job + 1) | 0);
      if (Atomics.exchange(this.head, TOLD, 1) === 0) tell();
    }
  }

  #wait(job: number): void {
    while (Atomics.load(this.head, SUBMITTED) === job) {
      Atomics.store(this.head, WAITS, 1);
      // It returns at once if a job was submitted since the line above.
      Atomics.wait(this.head, SUBMITTED, job);
      Atomics.store(this.head, WAITS, 0);
    }
  }

  /** @returns the length of the compressed bytes, which are then in the slot. */
  #compress(job: number, compress: (bytes: Buffer) => Buffer): number {
    try {
      const compressed = compress(this.dataOf(job, this.lengthOf(job)));
      this.dataOf(job, compressed.length).set(compressed);
      return compressed.length;
    } catch {
      // The other thread compresses the event again, and reports the error if there is one.
      return -1;
    }
  }
}
