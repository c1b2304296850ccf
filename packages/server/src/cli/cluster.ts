/** Starts processes by `node:cluster`. The processes share one listener, and get its connections in turn. */
import cluster, { type Worker } from "node:cluster";
import type { Forked, Instruction, Place, Report, Supervisor } from "../serve/process-messages.ts";

/** Starts this program again, with its options and variables. */
export function forkProcess(): Forked {
  // If the operating system distributes the connections (the default on Windows), a few processes get most of them.
  cluster.schedulingPolicy = cluster.SCHED_RR;
  const worker = cluster.fork();
  // The event is emitted for a message that could not be sent. It is ignored, because the end of the process is
  // reported next.
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
 * Closes a connection that was sent to a process which ended before it took the connection. Otherwise the connection
 * would remain open, and its client would wait for an answer. `node:cluster` sends a process one connection at a time,
 * so there is at most one.
 */
function closeUntakenConnection(worker: Worker): void {
  let sentConnection: { close(): void } | undefined;
  const { process } = worker;
  const send = process.send.bind(process) as (message: unknown, handle?: unknown, ...more: unknown[]) => boolean;
  process.send = (message: unknown, handle?: unknown, ...more: unknown[]) => {
    if (typeof handle === "object" && handle !== null) sentConnection = handle as typeof sentConnection;
    return send(message, handle, ...more);
  };
  // guard(drop): a connection that was given to a process that ended is closed
  worker.on("exit", () => sentConnection?.close());
}

/**
 * @param kill ends this process, even if one of its threads hangs.
 * @returns the supervisor, if this process was forked by one.
 */
export function findSupervisor(kill: () => void): Supervisor | undefined {
  const { worker } = cluster;
  if (!worker) return undefined;
  // If the supervisor ends, Node would end this process by `process.exit`, which waits for a thread that hangs.
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
      // After a call of `disconnect`, Node does not call `process.exit`, which it calls if the connection to the
      // supervisor ends in another way.
      worker.disconnect();
    },
  };
}
