import { pino } from "pino";
import { afterEach, expect, test, vi } from "vitest";
import { CloseStack } from "./close-stack.ts";
import { endAfter } from "./end-after.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a stop that hangs ends the process, and the log names what hung", async () => {
  vi.useFakeTimers();
  const lines: string[] = [];
  const logger = pino({ base: null }, { write: (line: string) => void lines.push(line) });
  const closing = new Set<string>();
  const kill = vi.fn();
  const opened = new CloseStack(() => {}, closing);
  opened.add("database", () => {});
  opened.add("retention pass", () => new Promise(() => {}));
  void opened.release()();
  endAfter(1_000, { logger, closing, kill });
  await vi.advanceTimersByTimeAsync(999);
  expect(kill).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(kill).toHaveBeenCalledOnce();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { level: 60, hanging: ["retention pass"], msg: "did not stop in time" },
  ]);
});
