import { FLAGGED_SCHEMES } from "./flagged-apps.ts";
import type { Judgements } from "./judgement.ts";

export const mediaBluetoothAppsIos: Judgements = {
  /** Of the schemes that the host declared, those some app can open: a host may declare a part of the list. */
  openableFlaggedSchemes: {
    sources: { schemes: FLAGGED_SCHEMES },
    judge({ schemes }) {
      if (!schemes) return undefined;
      const isDeclared = (scheme: string): boolean =>
        schemes.present.includes(scheme) || schemes.absent.includes(scheme);
      if (!FLAGGED_SCHEMES.some(isDeclared)) return undefined;
      return FLAGGED_SCHEMES.filter((scheme) => schemes.present.includes(scheme));
    },
  },
};
