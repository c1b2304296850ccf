import { factsOf, isProbeId, PROBE_IDS, type ProbeId } from "@device-risk-signals/contract/catalog/fields";
import { DECLARED_PACKAGES, DECLARED_SCHEMES } from "../judgement/declared-artefacts.ts";

/** The package, by which Expo names the plugin. */
export const PACKAGE = "@device-risk-signals/react-native";

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
 * @param origin where the value comes from, for the message of an error; default: the plugin.
 * @throws TypeError if the value is no list of probes.
 */
export function declarationsFor(probes: unknown = DEFAULT_PROBES, origin: string = PACKAGE): Declarations {
  const named = readProbeIds(probes, origin);
  const namesFor = (lists: Readonly<Record<string, readonly string[]>>): readonly string[] => [
    ...new Set(named.flatMap((probe) => lists[probe] ?? [])),
  ];
  return {
    packages: namesFor(DECLARED_PACKAGES),
    schemes: namesFor(DECLARED_SCHEMES),
    queryProbes: named.filter((probe) => Object.hasOwn(DECLARED_PACKAGES, probe)),
  };
}

/** @throws TypeError that names the origin, each wrong probe and the probes of this release. */
export function readProbeIds(probes: unknown, origin: string): readonly ProbeId[] {
  const isKnown = (probe: unknown): probe is ProbeId => typeof probe === "string" && isProbeId(probe);
  if (Array.isArray(probes) && probes.every(isKnown)) return probes;
  const problem = Array.isArray(probes)
    ? `no such probe: ${probes
        .filter((probe) => !isKnown(probe))
        .map((probe) => JSON.stringify(probe))
        .join(", ")}`
    : "probes must be a list";
  throw new TypeError(`${origin}: ${problem}; the probes are ${PROBE_IDS.join(", ")}`);
}

/**
 * All schemes that the app must declare: first its own (`declared`), then those of the probes (`wanted`).
 * @throws TypeError if there are more schemes than iOS considers
 */
export function joinSchemes(declared: readonly string[], wanted: readonly string[]): readonly string[] {
  const schemes = [...new Set([...declared, ...wanted])];
  if (schemes.length <= MAX_SCHEMES) return schemes;
  throw new TypeError(
    `${PACKAGE}: LSApplicationQueriesSchemes would hold ${schemes.length} schemes, and iOS considers only ${MAX_SCHEMES}: ` +
      `${declared.length} are the app's, ${schemes.length - declared.length} come from the probes; enable fewer probes`,
  );
}
