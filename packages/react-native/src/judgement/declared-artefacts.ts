import { FARM_PACKAGES } from "./emulator-artefacts.ts";
import { FLAGGED_APPS, FLAGGED_SCHEMES, REMOTE_ACCESS_APPS } from "./flagged-apps.ts";
import { JAILBREAK_SCHEMES } from "./jailbreak-artefacts.ts";
import { PATCHERS_AND_HOOK_MANAGERS, ROOT_CLOAKERS, ROOT_MANAGERS } from "./root-artefacts.ts";

/** Packages that an Android app must declare in `<queries>`, by the probe that needs them. */
export const DECLARED_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  os_integrity: [...ROOT_MANAGERS, ...PATCHERS_AND_HOOK_MANAGERS, ...ROOT_CLOAKERS, ...FARM_PACKAGES],
  media_bluetooth_apps: FLAGGED_APPS,
  transaction_safety: REMOTE_ACCESS_APPS,
};

/**
 * URL schemes that an iOS app must declare in `LSApplicationQueriesSchemes` (50 at most), by the probe that needs them.
 */
export const DECLARED_SCHEMES: Readonly<Record<string, readonly string[]>> = {
  os_integrity: JAILBREAK_SCHEMES,
  media_bluetooth_apps: FLAGGED_SCHEMES,
};
