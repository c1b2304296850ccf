/** Applies calls of the admin API that need the login of a worker, in a process that has it. */
import type { RouteId } from "@device-risk-signals/admin-api";
import { OperatorError } from "../base/errors/operator-error.ts";
import type { System } from "../runtime/system.ts";
import type { OperationCall, OperationResult } from "./operation.ts";
import { callOperation } from "./operations.ts";
import { type AdminPorts, portsOf } from "./ports.ts";
import { AdminError } from "./problem.ts";

/** Maximum number of calls that are applied at the same time, because each uses connections of its own. */
const MAX_CALLS = 16;

/** A call that is applied. */
export type WorkerCall<Id extends RouteId> = Omit<OperationCall<Id>, "ports">;

export class WorkerCalls {
  readonly #system: System;
  #running = 0;

  constructor(system: System) {
    this.#system = system;
  }

  /**
   * Takes one of the places for calls. @returns a function that gives it back.
   * @throws AdminError too-many-requests
   */
  enter(): () => void {
    // guard: the calls of one person don't take all connections of the database
    if (this.#running >= MAX_CALLS) {
      const detail = `This worker applies ${MAX_CALLS} calls now. Repeat the call later.`;
      throw new AdminError("too-many-requests", { detail, headers: { "Retry-After": "10" } });
    }
    this.#running++;
    let hasLeft = false;
    return () => {
      if (!hasLeft) this.#running--;
      hasLeft = true;
    };
  }

  /**
   * Applies a call. At the time limit the call ends, and its operation ends at its next line of progress.
   * @throws what the operation throws; call-timed-out
   */
  async apply<Id extends RouteId>(
    id: Id,
    call: WorkerCall<Id>,
    report: AdminPorts["report"],
  ): Promise<OperationResult<Id>> {
    const limitMs = this.#system.config.service.callTimeoutMs;
    const { promise: over, reject } = Promise.withResolvers<never>();
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      reject(timedOut(limitMs));
    }, limitMs);
    const reportInTime = (line: string): void => {
      if (isOver) throw timedOut(limitMs);
      report(line);
    };
    const ports = { ...portsOf(this.#system), report: reportInTime };
    try {
      return await Promise.race([this.#perform(id, { ...call, ports }), over]);
    } finally {
      clearTimeout(timer);
    }
  }

  async #perform<Id extends RouteId>(id: Id, call: OperationCall<Id>): Promise<OperationResult<Id>> {
    const { dry_run: isDryRun = false } = call.input as { readonly dry_run?: boolean };
    // A worker that was killed may have written the erasure of a repeated call to the journal.
    // guard: an erasure that is called again finds itself in the database
    if (id === "runErasure" && !isDryRun) await this.#system.replay();
    return callOperation(id, call);
  }
}

const timedOut = (limitMs: number): OperatorError =>
  new OperatorError(
    "call-timed-out",
    `The call took longer than DRS_ORDER_TIMEOUT, which is ${limitMs / 1_000} seconds. Its operation may still complete: ` +
      "check whether it took effect before retrying.",
  );
