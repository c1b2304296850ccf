/** One of the processes that receive events under a supervisor. */
import type { Logger } from "pino";
import { AdmissionExchange } from "../runtime/admission-exchange.ts";
import { CloseStack } from "../runtime/close-stack.ts";
import { endAfter } from "../runtime/end-after.ts";
import { assembleEndpoint, type Endpoint } from "../runtime/endpoint.ts";
import { createErrorLog } from "../runtime/error-log.ts";
import type { System } from "../runtime/system.ts";
import { ThrottleExchange } from "../runtime/throttle-exchange.ts";
import { CLOSE_WITHIN_MS, closeListener, followTls, openTls } from "./listeners.ts";
import { snapshotOf } from "./merge-metrics.ts";
import type { Answers, Question, Supervisor } from "./process-messages.ts";
import { createListener, listenForEvents, logDependencies, reloadKeyEncryption } from "./service.ts";

/** Time limit for this process to end after a stop. The supervisor waits longer before it ends the process. */
const STOP_WITHIN_MS = 8_000;

export interface IngestProcessOptions {
  readonly system: System;
  readonly logger: Logger;
  readonly supervisor: Supervisor;
  /** Ends this process at once. */
  readonly kill: () => void;
}

/** Serves until the supervisor tells it to stop. */
export async function runIngestProcess(options: IngestProcessOptions): Promise<void> {
  const { system, logger, supervisor, kill } = options;
  const { config } = system;
  const onError = createErrorLog(logger, system.dependencies);
  const reloads = { logger, onError };
  logDependencies(system, logger);
  const stopped = Promise.withResolvers<void>();
  await using opened = new CloseStack(onError, system.closing);
  const throttles = new ThrottleExchange((taken) => void supervisor.send({ kind: "taken", taken }));
  const admission = new AdmissionExchange((held) => void supervisor.send({ kind: "held", held }));
  const tls = await openTls(config.service.tls, "service.tls");
  const endpoint = await assembleEndpoint(system, { onError, shared: { admission, throttles } });
  opened.add("endpoint", () => endpoint.close());
  let isDrained = false;
  const drain = async (): Promise<true> => {
    await endpoint.drain();
    return (isDrained = true);
  };
  const listener = createListener(config, endpoint.ingest, tls, onError);
  opened.add("listener", () => closeListener(listener, isDrained ? CLOSE_WITHIN_MS : 0));
  const url = await listenForEvents(listener, config, tls);
  const followed = followTls(listener, tls, "certificate", reloads);
  opened.add("certificate files", () => followed.close());

  supervisor.onInstruction((instruction) => {
    switch (instruction.kind) {
      case "begin":
        return;
      case "ask":
        answer(endpoint, instruction.question, drain).then(
          (given) => supervisor.send({ kind: "answer", id: instruction.id, answer: given }),
          (error: unknown) => onError(error, `answer ${instruction.question} of process`),
        );
        return;
      case "taken":
        return throttles.receive(instruction.taken);
      case "held":
        return admission.receive(instruction.process, instruction.held);
      case "inform":
        return void supervisor.send({
          kind: "informs",
          process: instruction.process,
          held: admission.held(),
          levels: throttles.levels(),
        });
      case "levels":
        return throttles.raise(instruction.levels);
      case "ended":
        return admission.forget(instruction.process);
      case "reload":
        followed.reload();
        return reloadKeyEncryption(system, reloads);
      case "stop":
        return stopped.resolve();
    }
  });
  await supervisor.send({ kind: "serving", url });
  await stopped.promise;
  endAfter(STOP_WITHIN_MS, { logger, closing: system.closing, kill });
  // Calls that still wait a second later are abandoned.
  setTimeout(() => system.dependencies.abandon(), CLOSE_WITHIN_MS).unref();
  void endpoint.drain();
}

async function answer(endpoint: Endpoint, question: Question, drain: () => Promise<true>): Promise<Answers[Question]> {
  switch (question) {
    case "readiness":
      return endpoint.knownReadiness();
    case "metrics":
      return snapshotOf(endpoint.metrics.registry);
    case "drain":
      return drain();
  }
}
