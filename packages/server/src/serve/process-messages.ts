/** Messages between a supervisor and the processes that receive events. */
import type { Readiness } from "../base/dependencies/readiness.ts";
import type { OperatorErrorCode } from "../base/errors/codes.ts";
import type { HeldReport } from "../runtime/admission-exchange.ts";
import type { Levels, Taken } from "../runtime/throttle-exchange.ts";
import type { MetricSnapshot } from "./merge-metrics.ts";

/**
 * Questions of a supervisor to a process, with their answers. A process answers `drain` when it has answered all
 * accepted requests.
 */
export interface Answers {
  readonly readiness: Readiness;
  readonly metrics: readonly MetricSnapshot[];
  readonly drain: true;
}

export type Question = keyof Answers;

/** The position of a process among the processes of its server. */
export interface Place {
  /** The number, counted from 1. */
  readonly number: number;
  readonly processes: number;
}

/**
 * With `inform`, the supervisor asks a process to report the permits that it holds and its levels of throttles. The
 * supervisor passes both to the newly started process with the number `process`.
 */
export type Instruction =
  | { readonly kind: "begin"; readonly place: Place }
  | { readonly kind: "ask"; readonly id: number; readonly question: Question }
  | { readonly kind: "taken"; readonly taken: Taken }
  | { readonly kind: "held"; readonly process: number; readonly held: HeldReport }
  | { readonly kind: "ended"; readonly process: number }
  | { readonly kind: "inform"; readonly process: number }
  | { readonly kind: "levels"; readonly levels: Levels }
  | { readonly kind: "reload" | "stop" };

/** With `loaded`, a process asks the supervisor for its `Place`. */
export type Report =
  | { readonly kind: "loaded" }
  | { readonly kind: "serving"; readonly url: string }
  | { readonly kind: "failed"; readonly code: OperatorErrorCode; readonly message: string }
  | { readonly kind: "answer"; readonly id: number; readonly answer: Answers[Question] }
  | { readonly kind: "taken"; readonly taken: Taken }
  | { readonly kind: "held"; readonly held: HeldReport }
  | { readonly kind: "informs"; readonly process: number; readonly held: HeldReport; readonly levels: Levels };

/** A process from the view of its supervisor. */
export interface Forked {
  readonly pid: number | undefined;
  /** A message to a process that has ended is lost. */
  send(instruction: Instruction): void;
  onReport(listener: (report: Report) => void): void;
  /** @param listener receives an exit code or the name of a signal. */
  onEnd(listener: (how: string) => void): void;
  kill(): void;
}

/** The supervisor from the view of a process. */
export interface Supervisor {
  readonly place: Promise<Place>;
  /** Resolves when the message is sent. */
  send(report: Report): Promise<void>;
  onInstruction(listener: (instruction: Instruction) => void): void;
  /** Ends the connection, which would otherwise keep this process running. */
  leave(): void;
}
