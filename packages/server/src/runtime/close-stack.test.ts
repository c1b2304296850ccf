import { expect, test } from "vitest";
import { CloseStack } from "./close-stack.ts";

test("everything is closed in reverse order, even if one close fails or hangs first", async () => {
  const errors: unknown[] = [];
  const closed: string[] = [];
  const closing = new Set<string>();
  const hanging = Promise.withResolvers<void>();
  const opened = new CloseStack((error) => errors.push(error), closing);
  opened.add("first", () => closed.push("first"));
  opened.add("second", async () => {
    await hanging.promise;
    throw new Error("of the second");
  });
  opened.add("third", () => {
    throw new Error("of the third");
  });
  const done = opened.release()();
  await new Promise((resolve) => setImmediate(resolve));
  expect([...closing]).toEqual(["second"]);
  hanging.resolve();
  await done;
  expect(closed).toEqual(["first"]);
  expect(errors).toEqual([new Error("of the third"), new Error("of the second")]);
  expect(closing.size).toBe(0);
});

test("everything that was opened before a failure is closed, and a released stack is not", async () => {
  const closed: string[] = [];
  const open = async (fails: boolean): Promise<void> => {
    await using opened = new CloseStack(() => {});
    opened.add("pool", () => closed.push(String(fails)));
    if (fails) throw new Error("later");
    opened.release();
  };
  await expect(open(true)).rejects.toThrow("later");
  await open(false);
  expect(closed).toEqual(["true"]);
});
