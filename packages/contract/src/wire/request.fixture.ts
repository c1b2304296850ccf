/** A valid body for the tests, and ways to change it. */
import type { TransportRequest } from "./transport.ts";

/** A fresh request that holds every member and every outcome. */
export function validRequest(): TransportRequest {
  return {
    action_id: "action-1",
    action_type: "payment",
    sdk_version: "1.0.0",
    platform: "android",
    app_version: "4.2",
    observations: {
      session_id: "session-1",
      client_id: "client-1",
      event_type: "device_intel_collection",
      schema_version: 1,
      collected_at: "2026-03-01T12:00:00.123Z",
      probes: {
        network: { status: "success", data: { isConnected: true, isMetered: false, interfaceNames: ["wlan0"] } },
        telephony: { status: "skipped", reason: "disabled" },
        audio_latency: { status: "timeout" },
        fonts: { status: "error", error: "failed" },
      },
    },
  };
}

export type Path = readonly (string | number)[];

/** The paths of every value inside `value`, containers before their content. */
export function pathsOf(value: unknown): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const names = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
  return names.flatMap((name) => {
    const inside = (value as Record<string | number, unknown>)[name];
    return [[name], ...pathsOf(inside).map((path) => [name, ...path])];
  });
}

/**
 * A copy of `value` with `put` at `path`, or without this member if `put` is `undefined`. If the path leads through a
 * value that is neither an object nor an array, or to no item of an array, nothing changes.
 */
export function replaced(value: unknown, path: Path, put: unknown): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return put;
  if (typeof value !== "object" || value === null) return value;
  const member = replaced((value as Record<string | number, unknown>)[name], rest, put);
  if (Array.isArray(value)) {
    if (typeof name !== "number" || name >= value.length) return value;
    return member === undefined ? value.toSpliced(name, 1) : value.with(name, member);
  }
  const others = Object.entries(value).filter(([other]) => other !== name);
  return Object.fromEntries(member === undefined ? others : [...others, [name, member]]);
}

/** The valid body with `put` at one path. `path` has the names joined by `.`. */
export function bodyWith(path: string, put: unknown): unknown {
  return replaced(validRequest(), path.split("."), put);
}
