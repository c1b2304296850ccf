import { expect, it, vi } from "vitest";
import { createCancellationScope } from "./cancellation-scope.ts";

it("a listener that was removed is not called when the scope ends", () => {
  const scope = createCancellationScope();
  const [kept, removed] = [vi.fn(), vi.fn()];
  const signal = scope.join(undefined);
  for (const listener of [kept, removed]) signal.addEventListener("abort", listener);
  signal.removeEventListener("abort", removed);
  scope.end();
  expect([kept.mock.calls.length, removed.mock.calls.length]).toEqual([1, 0]);
  expect([signal.aborted, scope.join(undefined).aborted]).toEqual([true, false]);
});
