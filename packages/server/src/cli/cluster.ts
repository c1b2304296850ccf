/** Processes by `node:cluster`. They share one listener, and take connections in turn. */
import cluster, { type Worker } from "node:cluster";
import type { Forked, Instruction, Place, Report, Supervisor } from "../service/process-messages.ts";

/** Starts this program again, with its options and variables. */
export function forkProcess(): Forked {
  // The system's own choice, the default on Windows, leaves most connections to a few processes.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const worker = cluster.fork();
  // A message that could not be sent: the end of the process follows.
  worker.on("error", () => {});
  closeUntakenConnection(worker);
  return {
    pid: worker.process.pid,
    send: (instruction) => {
      if (worker.isConnected()) worker.send(instruction, () => {});
    },
    onReport: (listener) => void worker.on("message", (report: Report) => listener(report)),
    onEnd: (listener) =>
      void worker.on("exit", (code: number | null, signal: string | null) => listener(signal ?? `exit code ${code}`)),
    kill: () => void worker.process.kill("SIGKILL"),
  };
}

/**
 * Closes the connection that a process had not taken when it ended: `node:cluster` gives a process one connection at a
 * time. Without this, the connection would remain open, and its client would wait for an answer.
 */
function closeUntakenConnection(worker: Worker): void {
  let given: { close(): void } | undefined;
  const { process } = worker;
  const send = process.send.bind(process) as (message: unknown, handle?: unknown, ...more: unknown[]) => boolean;
  process.send = (message: unknown, handle?: unknown, ...more: unknown[]) => {
    if (typeof handle === "object" && handle !== null) given = handle as typeof given;
    return send(message, handle, ...more);
  };
  // guard(drop): a connection that was given to a process that ended is closed
  // fails: e2e/processes.test.ts › replaces a process that was killed
  worker.on("exit", () => given?.close());
}

/**
 * @param kill ends this process, also where a thread hangs in it.
 * @returns the supervisor that forked this process, if one did.
 */
export function findSupervisor(kill: () => void): Supervisor | undefined {
  const { worker } = cluster;
  if (!worker) return undefined;
  // Node would end this process by `process.exit`, which waits for threads that hang.
  process.prependListener("disconnect", kill);
  const send = (report: Report): Promise<void> =>
    new Promise((resolve) => void process.send?.(report, undefined, {}, () => resolve()));
  const onInstruction: Supervisor["onInstruction"] = (listener) => {
    worker.on("message", (instruction: Instruction) => listener(instruction));
  };
  const place = new Promise<Place>((resolve) => {
    onInstruction((instruction) => instruction.kind === "begin" && resolve(instruction.place));
  });
  void send({ kind: "loaded" });
  return {
    place,
    send,
    onInstruction,
    leave() {
      process.off("disconnect", kill);
      // After `disconnect`, Node does not call `process.exit`, as it does at any other end of the connection.
      worker.disconnect();
    },
  };
}
