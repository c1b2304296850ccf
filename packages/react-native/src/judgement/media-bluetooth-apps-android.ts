import { present, which } from "./finding.ts";
import { FLAGGED_APPS } from "./flagged-apps.ts";
import type { Judgements } from "./judgement.ts";

export const mediaBluetoothAppsAndroid: Judgements = {
  installedFlaggedApps: which(present("packages", FLAGGED_APPS)),
};
