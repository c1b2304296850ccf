import { Unavailable } from "../ports.ts";

/** A dependency that answers, but denies the request. */
export class Unusable extends Unavailable {
  /** Without its subject, for people. */
  readonly problem: string;

  constructor(name: string, problem: string, options?: ErrorOptions) {
    super(`the ${name} ${problem}`, options);
    this.problem = problem;
  }
}
