/**
 * Calls that can't be cancelled, such as calls to a directory of a network file system. After the deadline no caller
 * waits for such a call.
 */
import { hasCode } from "../errors/operator-error.ts";
import { Unavailable } from "../ports.ts";
import type { Dependency } from "./dependencies.ts";

export type Bounded = <T>(call: () => Promise<T>) => Promise<T>;

/** Maximum number of concurrent calls: Node has four threads for all file operations and for compression. */
const MAX_RUNNING = 2;

/**
 * Bounds calls that can't be cancelled. An expired call continues in a thread, and while it hangs, no other call
 * begins. Before a call expires, at most one other call runs at the same time. The time for which a call waits to begin
 * counts towards its deadline.
 * @param bounded rejects with dependency-silent if a call takes too long.
 * @param hanging the error of a call that does not begin.
 */
export function limitHanging(bounded: Bounded, hanging: () => Unavailable): Bounded {
  const waiting: (() => void)[] = [];
  let runningCount = 0;
  let hungCount = 0;

  /** @param isWanted whether the caller still waits. */
  async function runWhenFree<T>(call: () => Promise<T>, isWanted: () => boolean): Promise<T> {
    if (runningCount >= MAX_RUNNING) await new Promise<void>((resolve) => waiting.push(resolve));
    runningCount++;
    try {
      if (hungCount > 0 || !isWanted()) throw hanging();
      return await call();
    } finally {
      runningCount--;
      waiting.shift()?.();
    }
  }

  return async (call) => {
    if (hungCount > 0) throw hanging();
    let isWanted = true;
    let started: Promise<unknown> | undefined;
    const start = (): ReturnType<typeof call> => {
      const result = call();
      started = result;
      return result;
    };
    return bounded(() => runWhenFree(start, () => isWanted)).catch((error: unknown) => {
      isWanted = false;
      if (started && hasCode(error, "dependency-silent")) {
        hungCount++;
        void started.catch(() => {}).finally(() => hungCount--);
      }
      throw error;
    });
  };
}

/**
 * Bounds calls to the dependency by its deadline. All file calls of one dependency must use the same result of this
 * function.
 */
export function boundedBy(dependency: Dependency): Bounded {
  const isAway = (error: unknown): boolean => error instanceof Unavailable;
  return limitHanging(
    (call) => dependency.call(call, { isAway }),
    () => new Unavailable(`an earlier call to the ${dependency.title} still hangs`, { code: "dependency-silent" }),
  );
}

/** Reads each item within the deadline. */
export async function* eachBounded<T>(bounded: Bounded, items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const next = await bounded(() => iterator.next());
    if (next.done) return;
    yield next.value;
  }
}
