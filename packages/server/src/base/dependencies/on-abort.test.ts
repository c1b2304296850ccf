import { getEventListeners } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { onAbort } from "./on-abort.ts";

test("an abort calls exactly the listeners that were not removed, once", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(), { maxLength: 40 }), (choices) => {
      const controller = new AbortController();
      const called: number[] = [];
      const active = new Map<number, () => void>();
      for (const [index, choice] of choices.entries()) {
        const names = [...active.keys()];
        const name = names[choice % (2 * names.length + 1)];
        if (name === undefined)
          active.set(
            index,
            onAbort(controller.signal, () => called.push(index)),
          );
        else {
          active.get(name)?.();
          active.delete(name);
        }
      }
      controller.abort();
      expect(called.toSorted((a, b) => a - b)).toEqual([...active.keys()]);
    }),
  );
});

test("many listeners are one listener of the signal, and one that is removed twice removes no other", () => {
  const { signal } = new AbortController();
  const remove = onAbort(signal, () => {});
  onAbort(signal, () => {});
  remove();
  remove();
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
});

test("a listener may remove itself while the signal is aborted", () => {
  const controller = new AbortController();
  const called: string[] = [];
  const remove = onAbort(controller.signal, () => {
    called.push("first");
    remove();
  });
  onAbort(controller.signal, () => called.push("second"));
  controller.abort();
  expect(called).toEqual(["first", "second"]);
});
