/**
 * Calls that can't be cancelled, such as those to a directory of a network file system: past the deadline no caller waits
 * for them.
 */
import { hasCode } from "../errors/operator-error.ts";
import { Unavailable } from "../ports.ts";
import type { Dependency } from "./dependencies.ts";

export type Bounded = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * For calls that can't be cancelled: one that expired continues in a thread, of which Node has four. While it hangs, no other
 * begins.
 * @param bounded gives up a call with dependency-silent. @param hanging the error of a call that does not begin.
 */
export function onePerHang(bounded: Bounded, hanging: () => Unavailable): Bounded {
  let hung = 0;
  return async (call) => {
    if (hung > 0) throw hanging();
    let running: Promise<unknown> | undefined;
    const start = (): ReturnType<typeof call> => {
      const started = call();
      running = started;
      return started;
    };
    return bounded(start).catch((error: unknown) => {
      if (hasCode(error, "dependency-silent")) {
        hung++;
        void running?.catch(() => {}).finally(() => hung--);
      }
      throw error;
    });
  };
}

/** Calls to the dependency, each within its deadline. */
export function boundedBy(dependency: Dependency): Bounded {
  const isAway = (error: unknown): boolean => error instanceof Unavailable;
  return onePerHang(
    (call) => dependency.call(call, { isAway }),
    () => new Unavailable(`an earlier call to the ${dependency.title} still hangs`, { code: "dependency-silent" }),
  );
}

/** Each item within the deadline. */
export async function* eachBounded<T>(bounded: Bounded, items: AsyncIterable<T>): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  for (;;) {
    const next = await bounded(() => iterator.next());
    if (next.done) return;
    yield next.value;
  }
}
