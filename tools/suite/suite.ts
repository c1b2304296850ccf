export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts checks, and reports each when it ends. */
export class Suite {
  readonly #name: string;
  readonly #write: (text: string) => void;
  #passed = 0;
  #failed = 0;
  #skipped = 0;

  constructor(name: string, write: (text: string) => void) {
    this.#name = name;
    this.#write = write;
  }

  /**
   * Runs one check. An exception is a failure of this check and does not end the others. @returns whether it passed.
   */
  async check(name: string, work: () => void | Promise<void>): Promise<boolean> {
    return await this.#timed(name, async () => {
      await work();
      return { passed: 1, failed: 0, skipped: 0 };
    });
  }

  /** Adds tests that another runner counts. @param work throws if it could not count; `said` is the runner's output. */
  async tests(name: string, work: () => Promise<Counts & { readonly said: string }>): Promise<boolean> {
    return await this.#timed(name, work);
  }

  async #timed(name: string, work: () => Promise<Counts & { readonly said?: string }>): Promise<boolean> {
    const start = performance.now();
    const { passed, failed, skipped, said = "" } = await work().catch(failure);
    this.#passed += passed;
    this.#failed += failed;
    this.#skipped += skipped;
    const seconds = ((performance.now() - start) / 1_000).toFixed(1).padStart(6);
    const count = passed + failed > 1 ? `: ${passed} tests` : "";
    this.#write(`${failed === 0 ? "ok  " : "FAIL"} ${seconds} s  ${name}${count}\n${failed === 0 ? "" : `${said}\n`}`);
    return failed === 0;
  }

  /** A run without any check counts as failed, so that the summary does not look better than the run. */
  get failed(): boolean {
    return this.#failed > 0 || this.#passed === 0;
  }

  get line(): string {
    return `${this.#name}: ${this.#passed} passed, ${this.#failed} failed, ${this.#skipped} skipped`;
  }
}

function failure(error: unknown): Counts & { readonly said: string } {
  return { passed: 0, failed: 1, skipped: 0, said: error instanceof Error ? error.message : String(error) };
}
