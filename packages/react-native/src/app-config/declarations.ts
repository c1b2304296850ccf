import { factsOf, isProbeId, PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { DECLARED_PACKAGES, DECLARED_SCHEMES } from "../judgement/declared-artefacts.ts";
import { MisuseError, type Problem } from "../misuse.ts";

/** The declarations that the probes of an app need. The rest of the app's configuration stays unchanged. */
export interface Declarations {
  /** Entries of `<queries>`. */
  readonly packages: readonly string[];
  /** Entries of `LSApplicationQueriesSchemes`. */
  readonly schemes: readonly string[];
  /** The probes in the marker `QUERIES_MARKER`, which tells native code for which probes the packages are declared. */
  readonly queryProbes: readonly ProbeId[];
}

/** `canOpenURL` considers only the first 50 declared schemes (Apple's documentation). */
export const MAX_SCHEMES = 50;

/**
 * The name of the `<meta-data>` element that lists the probes whose packages are declared (`docs/native-interface.md`).
 */
export const QUERIES_MARKER = "io.devicerisksignals.QUERIES";

/** The probes that are enabled by default. Each still needs consent. */
export const DEFAULT_PROBES: readonly ProbeId[] = PROBE_IDS.filter((probe) => factsOf(probe).enabledByDefault);

/**
 * The declarations that these probes need.
 * @param probes a value of unknown origin; default: the probes that are enabled by default.
 * @throws MisuseError if the value is no list of probes.
 */
export function declarationsFor(probes: unknown = DEFAULT_PROBES): Declarations {
  const named = readProbeIds(probes);
  const namesFor = (lists: Readonly<Record<string, readonly string[]>>): readonly string[] => [
    ...new Set(named.flatMap((probe) => lists[probe] ?? [])),
  ];
  return {
    packages: namesFor(DECLARED_PACKAGES),
    schemes: namesFor(DECLARED_SCHEMES),
    queryProbes: named.filter((probe) => Object.hasOwn(DECLARED_PACKAGES, probe)),
  };
}

/** @throws MisuseError if the value is no list of probes. */
export function readProbeIds(probes: unknown): readonly ProbeId[] {
  if (!Array.isArray(probes)) throw new MisuseError([{ path: "probes", message: "must be a list of probe ids" }]);
  const problems: Problem[] = probes.flatMap((probe: unknown, index) =>
    typeof probe === "string" && isProbeId(probe)
      ? []
      : [{ path: `probes.${index}`, message: "is no probe of this release" }],
  );
  if (problems.length > 0) throw new MisuseError(problems);
  return probes as ProbeId[];
}

/**
 * All schemes that the app must declare: first its own (`declared`), then those of the probes (`wanted`).
 * @throws MisuseError if there are more schemes than iOS considers
 */
export function joinSchemes(declared: readonly string[], wanted: readonly string[]): readonly string[] {
  const schemes = [...new Set([...declared, ...wanted])];
  if (schemes.length <= MAX_SCHEMES) return schemes;
  const message =
    `would hold ${schemes.length} schemes, and iOS considers only ${MAX_SCHEMES}: ` +
    `${declared.length} are the app's, ${schemes.length - declared.length} come from the probes; enable fewer probes`;
  throw new MisuseError([{ path: "LSApplicationQueriesSchemes", message }]);
}
