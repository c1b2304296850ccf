export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Counts checks, and reports each as it ends. */
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

  /** One check. What it throws is its failure, and ends no other. @returns whether it passed. */
  async check(name: string, work: () => void | Promise<void>): Promise<boolean> {
    return await this.#timed(name, async () => {
      await work();
      return { passed: 1, failed: 0, skipped: 0 };
    });
  }

  /** Tests that another runner counts. @param work throws where it could not count; `said` helps to repair it. */
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

  /** No check at all is a failure too: the line must not look better than the run. */
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
