import { factsOf, isProbeId, PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { DECLARED_PACKAGES, DECLARED_SCHEMES } from "../judgement/declared-artefacts.ts";
import { MisuseError, type Problem } from "../misuse.ts";

/** The declarations that an app's probes need. The rest of its configuration stays unchanged. */
export interface Declarations {
  /** Entries of `<queries>`. */
  readonly packages: readonly string[];
  /** Entries of `LSApplicationQueriesSchemes`. */
  readonly schemes: readonly string[];
  /** Probes in the marker that tells native code what was declared. */
  readonly queryProbes: readonly ProbeId[];
}

/** Apple: `canOpenURL` considers only the first 50 declared schemes. */
export const MAX_SCHEMES = 50;

/** Name of the `<meta-data>` that lists the probes whose packages are declared (`docs/native-interface.md`). */
export const QUERIES_MARKER = "io.devicerisksignals.QUERIES";

/** The probes that run by default, after consent. */
export const DEFAULT_PROBES: readonly ProbeId[] = PROBE_IDS.filter((probe) => factsOf(probe).enabledByDefault);

/**
 * @param probes of unknown origin; default: the probes that are on by default.
 * @throws MisuseError for what is no list of probes.
 */
export function declarationsFor(probes: unknown = DEFAULT_PROBES): Declarations {
  const named = readProbeIds(probes);
  const of = (lists: Readonly<Record<string, readonly string[]>>): readonly string[] => [
    ...new Set(named.flatMap((probe) => lists[probe] ?? [])),
  ];
  return {
    packages: of(DECLARED_PACKAGES),
    schemes: of(DECLARED_SCHEMES),
    queryProbes: named.filter((probe) => Object.hasOwn(DECLARED_PACKAGES, probe)),
  };
}

/** @throws MisuseError for what is no list of probes. */
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

/** All the schemes that an app then declares, its own first. @throws MisuseError for more than iOS looks at. */
export function joinSchemes(declared: readonly string[], wanted: readonly string[]): readonly string[] {
  const all = [...new Set([...declared, ...wanted])];
  if (all.length <= MAX_SCHEMES) return all;
  const message =
    `would hold ${all.length} schemes, and iOS looks at ${MAX_SCHEMES}: ` +
    `${declared.length} are the app's, ${all.length - declared.length} come from the probes; enable fewer probes`;
  throw new MisuseError([{ path: "LSApplicationQueriesSchemes", message }]);
}
