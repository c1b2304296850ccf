import type { Host } from "./host.ts";
import type { Native, NativeRequest } from "./native/native-interface.ts";

/** What the native half of a test does for a probe: it answers, throws, or never ends. */
export type Answers = (probe: string, request: NativeRequest, call: string) => unknown;

export interface FakeHost extends Host {
  readonly collected: { readonly probe: string; readonly request: NativeRequest; readonly call: string }[];
  readonly cancelled: string[];
  readonly observation: ("started" | "stopped")[];
}

/**
 * A host for tests. By default its native half answers without fields, so that every optional field is omitted and
 * every required field is missing.
 */
export function fakeHost(answers: Answers = () => ({ fields: {} }), overrides: Partial<Host> = {}): FakeHost {
  const collected: FakeHost["collected"] = [];
  const cancelled: string[] = [];
  const observation: FakeHost["observation"] = [];
  const native: Native = {
    async collect(call, probe, request) {
      collected.push({ probe, request, call });
      return await answers(probe, request, call);
    },
    cancel: (call) => void cancelled.push(call),
    startObservation: async () => void observation.push("started"),
    stopObservation: () => void observation.push("stopped"),
    echo: async (value) => value,
  };
  return {
    platform: "android",
    native,
    runtime: { isHermes: true, jsEngine: "hermes" },
    monotonic: () => performance.now(),
    clockSource: "performance_now",
    now: () => new Date("2026-03-04T05:06:07.890Z"),
    setTimer: (work, milliseconds) => setTimeout(work, milliseconds),
    clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
    collected,
    cancelled,
    observation,
    ...overrides,
  };
}

export const NEVER = new Promise<never>(() => {});
