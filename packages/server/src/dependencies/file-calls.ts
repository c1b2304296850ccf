import { NoAnswer } from "./deadline.ts";

export type Bounded = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * For calls that can't be cancelled: one that expired goes on in a thread, of which Node has four. While it hangs, no other
 * begins.
 * @param bounded gives up a call with NoAnswer. @param hanging the error of a call that does not begin.
 */
export function onePerHang(bounded: Bounded, hanging: () => NoAnswer): Bounded {
  let hung = 0;
  return async (call) => {
    if (hung > 0) throw hanging();
    let running: Promise<unknown> | undefined;
    const start = (): ReturnType<typeof call> => {
      const started = call();
      running = started;
      return started;
    };
    return bounded(start).catch((fault: unknown) => {
      if (fault instanceof NoAnswer) {
        hung++;
        void running?.catch(() => {}).finally(() => hung--);
      }
      throw fault;
    });
  };
}
