import type { Platform } from "@device-risk-signals/contract/catalog/declare";
import { fits, jsonType } from "@device-risk-signals/contract/catalog/check";
import type { InputPath, ManifestInput } from "../manifest.ts";
import type { Reading } from "../reading.ts";

/** A parsed raw event that passed `validateTransportRequest`, and the platform of its request. */
export interface ParsedEvent {
  readonly platform: Platform;
  readonly probes: Readonly<Record<string, unknown>>;
}

/** Whether the purpose of the event covers a field of a probe. */
export type Covers = (probe: string, field: string) => boolean;

/** Reads one input of one event. */
export type ReadInput = (input: ManifestInput) => Reading<unknown>;

type Members = Readonly<Record<string, unknown>>;

interface Outcome {
  readonly status: string;
  readonly data?: Members;
  readonly reason?: string;
}

const PROBE_ABSENT = { state: "omitted", why: "probe-absent" } as const;
const FIELD_ABSENT = { state: "omitted", why: "field-absent" } as const;
const MASKED = { state: "masked" } as const;
const NOT_OBSERVED = { state: "not-observed" } as const;

/** Returns a function that reads inputs of the event. It converts no value and merges no states. */
export function readEvent({ platform, probes }: ParsedEvent, covers: Covers = () => true): ReadInput {
  return (input) => {
    const [probe = "", field = ""] = input.path;
    if (!Object.hasOwn(probes, probe)) return PROBE_ABSENT;
    const outcome = probes[probe] as Outcome;
    if (outcome.status !== "success") return covers(probe, field) ? withoutData(outcome) : MASKED;
    const data = outcome.data ?? {};
    if (!Object.hasOwn(data, field)) return FIELD_ABSENT;
    return covers(probe, field) ? readData(input, platform, data) : MASKED;
  };
}

function withoutData({ status, reason = "" }: Outcome): Reading<never> {
  if (status === "skipped") return { state: "skipped", reason };
  return status === "timeout" ? { state: "timeout" } : { state: "error" };
}

function readData(input: ManifestInput, platform: Platform, data: Members): Reading<unknown> {
  const reading = readMember(input, data, input.path.slice(1));
  if (reading.state !== "observed") return reading;
  const isConstant = input.constantOn?.includes(platform) === true;
  const isIdle = input.performedBy !== undefined && data[input.performedBy] === false;
  return isConstant || isIdle ? NOT_OBSERVED : reading;
}

function readMember(input: ManifestInput, parent: Members, [name = "", ...below]: InputPath): Reading<unknown> {
  if (!Object.hasOwn(parent, name)) return FIELD_ABSENT;
  const value = parent[name];
  if (below.length > 0) {
    const type = jsonType(value);
    return type === "object" ? readMember(input, value as Members, below) : { state: "departed", type };
  }
  return fits(value, input) ? { state: "observed", value } : { state: "departed", type: jsonType(value) };
}
