import { factsOf, PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { type Consent, type ConsentFunction, isConsent } from "./consent.ts";
import { type Members, membersOf } from "./members.ts";
import { type Problem } from "./misuse.ts";

export interface FieldSelection {
  /** If given, the SDK collects only these fields and the required fields of the probe. */
  readonly include?: readonly string[];
  /** Fields that the SDK does not collect. A required field can't be excluded: disable the probe instead. */
  readonly exclude?: readonly string[];
}

export interface ProbeConfiguration {
  /** Whether the probe runs. Default: the value in the catalog (`docs/data-dictionary.md`). */
  readonly enabled?: boolean;
  /** Time limit of the probe in milliseconds, up to 60,000. Default: 2,000; for some probes 3,000 or 5,000. */
  readonly timeoutMs?: number;
  readonly fields?: FieldSelection;
}

/** The result of one probe, for the host app's own telemetry. It contains no observed value. */
export interface ProbeReport {
  readonly probe: ProbeId;
  readonly status: "success" | "skipped" | "timeout" | "error";
  readonly durationMs: number;
}

/** A plain object from any source. The SDK checks the whole object, and reports every problem at once. */
export interface Configuration {
  /** The consent. Without it every probe is skipped. */
  readonly consent?: Consent | ConsentFunction;
  readonly probes?: Readonly<Partial<Record<ProbeId, ProbeConfiguration>>>;
  /** Time limit of a whole collection in milliseconds, up to 120,000. Default 10,000. */
  readonly deadlineMs?: number;
  /** Called once for each probe, when a collection has run all probes. The SDK ignores its exceptions. */
  readonly onProbe?: (report: ProbeReport) => void;
}

/** The settings of one probe. */
export interface ProbeSettings {
  readonly enabled: boolean;
  readonly timeoutMs: number;
  /**
   * The selected fields by their catalog names, for both platforms. `select` drops the fields that the platform lacks.
   */
  readonly fields: ReadonlySet<string>;
}

/** A configuration in which every missing member has its default. */
export interface ResolvedConfiguration {
  readonly consent: Consent | ConsentFunction | undefined;
  readonly probes: ReadonlyMap<ProbeId, ProbeSettings>;
  readonly deadlineMs: number;
  readonly onProbe: ((report: ProbeReport) => void) | undefined;
}

const DEFAULT_DEADLINE_MS = 10_000;
const MAX_DEADLINE_MS = 120_000;
const DEFAULT_TIMEOUT_MS = 2_000;
const MAX_TIMEOUT_MS = 60_000;
/** The time limits of probes that need more time than the default. */
const TIMEOUTS_MS: Readonly<Partial<Record<ProbeId, number>>> = {
  os_integrity: 3_000,
  gpu_benchmark: 5_000,
  audio_latency: 3_000,
  runtime_timing: 3_000,
};

/**
 * Reads a configuration of unknown origin, and adds what is wrong with it to `problems`. If there are problems, the
 * caller must not use the result.
 */
export function readConfiguration(configuration: unknown, problems: Problem[]): ResolvedConfiguration {
  const members = readMembers(configuration ?? {}, "", ["consent", "probes", "deadlineMs", "onProbe"], problems);
  const { consent, probes, deadlineMs, onProbe } = members;
  checkConsent(consent, problems);
  if (onProbe !== undefined && typeof onProbe !== "function") {
    problems.push({ path: "onProbe", message: "must be a function" });
  }
  return {
    consent: consent as ResolvedConfiguration["consent"],
    probes: readProbes(probes, defaultsOf, problems),
    deadlineMs: readDuration(deadlineMs, DEFAULT_DEADLINE_MS, MAX_DEADLINE_MS, "deadlineMs", problems),
    onProbe: onProbe as ResolvedConfiguration["onProbe"],
  };
}

export const NO_CONSENT: Problem = { path: "consent", message: "must come from consentFor(...), or be a function" };

/** `undefined` is no problem: it means that no consent is given. */
export function checkConsent(consent: unknown, problems: Problem[]): void {
  if (consent !== undefined && !isConsent(consent)) problems.push(NO_CONSENT);
}

/** @param before returns the settings that apply to a probe if `value` lacks the probe or one of its members */
export function readProbes(
  value: unknown,
  before: (probe: ProbeId) => ProbeSettings,
  problems: Problem[],
): ResolvedConfiguration["probes"] {
  const probes = readMembers(value ?? {}, "probes", PROBE_IDS, problems);
  return new Map(PROBE_IDS.map((probe) => [probe, readProbe(probe, probes[probe], before(probe), problems)]));
}

function defaultsOf(probe: ProbeId): ProbeSettings {
  const { enabledByDefault, fields } = factsOf(probe);
  return {
    enabled: enabledByDefault,
    timeoutMs: TIMEOUTS_MS[probe] ?? DEFAULT_TIMEOUT_MS,
    fields: new Set(fields.keys()),
  };
}

function readProbe(probe: ProbeId, value: unknown, before: ProbeSettings, problems: Problem[]): ProbeSettings {
  const path = `probes.${probe}`;
  const members = readMembers(value ?? {}, path, ["enabled", "timeoutMs", "fields"], problems);
  const { enabled = before.enabled, timeoutMs, fields } = members;
  if (typeof enabled !== "boolean") problems.push({ path: `${path}.enabled`, message: "must be true or false" });
  return {
    enabled: enabled === true,
    timeoutMs: readDuration(timeoutMs, before.timeoutMs, MAX_TIMEOUT_MS, `${path}.timeoutMs`, problems),
    fields: fields === undefined ? before.fields : readSelection(probe, fields, `${path}.fields`, problems),
  };
}

function readSelection(probe: ProbeId, selection: unknown, path: string, problems: Problem[]): ReadonlySet<string> {
  const { fields } = factsOf(probe);
  const members = readMembers(selection, path, ["include", "exclude"], problems);
  const include = readNames(members["include"], `${path}.include`, fields, problems);
  const exclude = readNames(members["exclude"], `${path}.exclude`, fields, problems);
  const selected = new Set<string>();
  for (const [name, { required }] of fields) {
    const excluded = exclude?.has(name);
    if (required && excluded) {
      problems.push({ path: `${path}.exclude`, message: `${name} is required: disable the probe` });
    }
    if (required || (!excluded && (include?.has(name) ?? true))) selected.add(name);
  }
  return selected;
}

function readNames(
  names: unknown,
  path: string,
  fields: ReadonlyMap<string, unknown>,
  problems: Problem[],
): ReadonlySet<string> | undefined {
  if (names === undefined) return undefined;
  if (!Array.isArray(names)) {
    problems.push({ path, message: "must be a list of field names" });
    return undefined;
  }
  names.forEach((name: unknown, index) => {
    if (typeof name === "string" && fields.has(name)) return;
    problems.push({ path: `${path}.${index}`, message: "is no field of this probe" });
  });
  return new Set(names as string[]);
}

function readDuration(value: unknown, fallback: number, max: number, path: string, problems: Problem[]): number {
  if (value === undefined) return fallback;
  if (typeof value === "number" && value > 0 && value <= max) return value;
  problems.push({ path, message: `must be milliseconds, above 0 and up to ${max}` });
  return fallback;
}

/** Reads the own members of an object. Adds a problem for a value that is no object, and for each unknown member. */
export function readMembers(value: unknown, path: string, known: readonly string[], problems: Problem[]): Members {
  const given = membersOf(value);
  if (!given) problems.push({ path, message: "must be an object" });
  const members: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, member] of Object.entries(given ?? {})) {
    if (known.includes(name)) members[name] = member;
    else problems.push({ path: path === "" ? name : `${path}.${name}`, message: "is not known" });
  }
  return members;
}
