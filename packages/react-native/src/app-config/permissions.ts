import { CATALOG } from "@device-risk-signals/contract/catalog";

/** A permission that the app may declare, and the additional fields that a probe observes if the app has it. */
export interface Unlocked {
  /** The permission's name without the prefix `android.permission.`. */
  readonly permission: string;
  readonly probe: string;
  readonly fields: readonly string[];
}

/** Android grants these permissions at installation, without asking the user. */
const INSTALL_TIME_PERMISSIONS: ReadonlySet<string> = new Set([
  "ACCESS_NETWORK_STATE",
  "DETECT_SCREEN_CAPTURE",
  "DETECT_SCREEN_RECORDING",
  "INTERNET",
  "USE_BIOMETRIC",
]);

/** The permissions of these probes that Android grants at installation. They are in the catalog's order of probes. */
export function installTimePermissions(probes: readonly string[]): readonly Unlocked[] {
  return CATALOG.filter(({ id }) => probes.includes(id)).flatMap(({ id, fields }) => {
    const unlocked = new Map<string, string[]>();
    for (const [name, { permission }] of Object.entries(fields)) {
      const needed = permission?.android;
      if (needed === undefined || !INSTALL_TIME_PERMISSIONS.has(needed)) continue;
      unlocked.set(needed, [...(unlocked.get(needed) ?? []), name]);
    }
    return [...unlocked].map(([permission, names]) => ({ permission, probe: id, fields: names }));
  });
}
