export interface Problem {
  /** Where, such as `probes.hardware.timeoutMs`; `""` is the argument itself. */
  readonly path: string;
  readonly message: string;
}

/** The SDK was called wrongly. Names every problem at once; never a value of the caller. */
export class MisuseError extends TypeError {
  override readonly name = "MisuseError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`DeviceIntel: ${problems.map(({ path, message }) => `${path || "the argument"} ${message}`).join("; ")}`);
    this.problems = problems;
  }
}

/** An aborted call, named as the platform names it (DOM): `error.name === "AbortError"`. */
export class AbortError extends Error {
  override readonly name = "AbortError";

  constructor() {
    super("collection aborted");
  }
}
