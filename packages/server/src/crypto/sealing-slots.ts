/**
 * Memory that two threads share. One thread submits events, the other one seals them in the same order. A slot holds
 * an event with its key, and later the sealed payload. A thread reads a slot only after the other one has counted it as
 * submitted or as sealed, so that no slot has two readers or writers at a time.
 */

/** A power of two, so that the numbers of jobs may overflow. */
const SLOTS = 64;
const MAX_EVENT_BYTES = 32_768;
const MAX_ASSOCIATED_BYTES = 1_024;
const KEY_BYTES = 32;

/** Words of the head of the memory: numbers of jobs modulo 2^32, and flags. */
const SUBMITTED = 0;
const SEALED = 1;
/** 1 while the sealing thread waits for a job. */
const WAITS = 2;
/** 1 from the message that results are ready until the other thread reads them. */
const TOLD = 3;
const HEAD_BYTES = 64;

/** Words of a slot. */
const EVENT_LENGTH = 0;
const ASSOCIATED_LENGTH = 1;
/** 0 for an event that could not be sealed. */
const SEALED_LENGTH = 2;
const KEY_AT = 16;
const DATA_AT = KEY_AT + KEY_BYTES;
/** A sealed payload has at most some bytes more than its event: the parts of its format, and a frame of zstd. */
const MAX_ADDED_BYTES = 1_024;
const SLOT_BYTES = DATA_AT + MAX_ASSOCIATED_BYTES + MAX_EVENT_BYTES + MAX_ADDED_BYTES;

export interface SealingJob {
  /** The bytes of the data key. */
  readonly key: Buffer;
  readonly associatedData: Buffer;
  readonly bytes: Buffer;
}

class SharedSlots {
  protected readonly head: Int32Array;
  protected readonly words: Int32Array;
  readonly #bytes: Buffer;

  constructor(memory: SharedArrayBuffer) {
    this.head = new Int32Array(memory, 0, HEAD_BYTES / Int32Array.BYTES_PER_ELEMENT);
    this.words = new Int32Array(memory);
    this.#bytes = Buffer.from(memory);
  }

  /** The index of a word of a job's slot. */
  protected wordAt(job: number, word: number): number {
    return this.#start(job) / Int32Array.BYTES_PER_ELEMENT + word;
  }

  protected keyOf(job: number): Buffer {
    return this.#part(job, KEY_AT, KEY_BYTES);
  }

  protected dataOf(job: number, from: number, length: number): Buffer {
    return this.#part(job, DATA_AT + from, length);
  }

  #start(job: number): number {
    return HEAD_BYTES + (job & (SLOTS - 1)) * SLOT_BYTES;
  }

  #part(job: number, from: number, length: number): Buffer {
    const start = this.#start(job) + from;
    return this.#bytes.subarray(start, start + length);
  }
}

/** The side of the thread that answers requests. */
export class SubmittingSlots extends SharedSlots {
  readonly memory: SharedArrayBuffer;
  /** The number of the first job whose result was not read. */
  #read = 0;
  #submitted = 0;

  constructor(memory = new SharedArrayBuffer(HEAD_BYTES + SLOTS * SLOT_BYTES)) {
    super(memory);
    this.memory = memory;
  }

  /** Number of jobs whose results were not read. */
  get waiting(): number {
    return (this.#submitted - this.#read) | 0;
  }

  /** @returns whether there was a free slot that is large enough. */
  submit({ key, associatedData, bytes }: { readonly [Part in keyof SealingJob]: Uint8Array }): boolean {
    const fits = bytes.length <= MAX_EVENT_BYTES && associatedData.length <= MAX_ASSOCIATED_BYTES;
    // guard(false): no job overwrites another one whose result was not read
    // fails: packages/server/src/crypto/sealing-thread.test.ts › more events than there are slots
    if (!fits || this.waiting === SLOTS) return false;
    const job = this.#submitted;
    this.words[this.wordAt(job, EVENT_LENGTH)] = bytes.length;
    this.words[this.wordAt(job, ASSOCIATED_LENGTH)] = associatedData.length;
    this.keyOf(job).set(key);
    this.dataOf(job, 0, associatedData.length).set(associatedData);
    this.dataOf(job, associatedData.length, bytes.length).set(bytes);
    this.#submitted = (job + 1) | 0;
    Atomics.store(this.head, SUBMITTED, this.#submitted);
    if (Atomics.load(this.head, WAITS) === 1) Atomics.notify(this.head, SUBMITTED);
    return true;
  }

  /** The results that are ready, in the order of the jobs; `undefined` for an event that could not be sealed. */
  *results(): Generator<Buffer | undefined> {
    // A job that is sealed after this line sends another message.
    Atomics.store(this.head, TOLD, 0);
    const end = Atomics.load(this.head, SEALED);
    while (this.#read !== end) {
      const length = this.words[this.wordAt(this.#read, SEALED_LENGTH)] as number;
      const sealed = length === 0 ? undefined : Buffer.from(this.dataOf(this.#read, 0, length));
      this.#read = (this.#read + 1) | 0;
      yield sealed;
    }
  }
}

/** The side of the sealing thread. */
export class SealingSlots extends SharedSlots {
  /**
   * Seals jobs, and waits for the next ones. Never returns.
   *
   * @param seal an exception of it fails one event.
   * @param tell sends the message that results are ready.
   */
  work(seal: (job: SealingJob) => Buffer, tell: () => void): never {
    for (let job = Atomics.load(this.head, SEALED); ; job = (job + 1) | 0) {
      this.#wait(job);
      this.words[this.wordAt(job, SEALED_LENGTH)] = this.#seal(job, seal);
      Atomics.store(this.head, SEALED, (job + 1) | 0);
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

  /** @returns the length of the sealed payload, which is then in the slot, or 0. */
  #seal(job: number, seal: (job: SealingJob) => Buffer): number {
    const key = this.keyOf(job);
    const associatedLength = this.words[this.wordAt(job, ASSOCIATED_LENGTH)] as number;
    const eventLength = this.words[this.wordAt(job, EVENT_LENGTH)] as number;
    try {
      const associatedData = this.dataOf(job, 0, associatedLength);
      const sealed = seal({ key, associatedData, bytes: this.dataOf(job, associatedLength, eventLength) });
      this.dataOf(job, 0, sealed.length).set(sealed);
      return sealed.length;
    } catch {
      // The other thread seals the event again, and reports the error if there is one.
      return 0;
    } finally {
      key.fill(0);
    }
  }
}
