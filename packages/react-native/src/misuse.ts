export interface Problem {
  /** The path of the wrong member, such as `probes.hardware.timeoutMs`; `""` is the argument itself. */
  readonly path: string;
  readonly message: string;
}

/**
 * The app called the SDK with wrong arguments. The message names every problem at once, and contains no value of the
 * caller.
 */
export class MisuseError extends TypeError {
  override readonly name = "MisuseError";
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(`DeviceIntel: ${problems.map(({ path, message }) => `${path || "the argument"} ${message}`).join("; ")}`);
    this.problems = problems;
  }
}

/** An aborted call. It has the name of the DOM's error for aborted operations: `error.name === "AbortError"`. */
export class AbortError extends Error {
  override readonly name = "AbortError";

  constructor() {
    super("collection aborted");
  }
}
