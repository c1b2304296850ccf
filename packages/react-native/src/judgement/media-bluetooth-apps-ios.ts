import { findingIn, namesFound } from "./finding.ts";
import { FLAGGED_SCHEMES } from "./flagged-apps.ts";
import type { Judgements } from "./judgement.ts";

export const mediaBluetoothAppsIos: Judgements = {
  /**
   * The schemes of the list that an installed app can open. The host app may declare only a part of the list, so the
   * field has a value if at least one scheme was examined.
   */
  openableFlaggedSchemes: namesFound(
    findingIn("schemes", FLAGGED_SCHEMES, ({ present, absent }) => {
      const found = FLAGGED_SCHEMES.filter((scheme) => present.includes(scheme));
      return { found, isComplete: found.length > 0 || FLAGGED_SCHEMES.some((scheme) => absent.includes(scheme)) };
    }),
  ),
};
