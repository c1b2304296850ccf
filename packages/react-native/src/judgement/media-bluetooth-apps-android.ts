import { FLAGGED_APPS } from "./flagged-apps.ts";
import { type Judgements, whichPresent } from "./judgement.ts";

export const mediaBluetoothAppsAndroid: Judgements = {
  installedFlaggedApps: whichPresent("packages", FLAGGED_APPS),
};
