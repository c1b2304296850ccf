import { present, namesFound } from "./finding.ts";
import { FLAGGED_APPS } from "./flagged-apps.ts";
import type { Judgements } from "./judgement.ts";

export const mediaBluetoothAppsAndroid: Judgements = {
  installedFlaggedApps: namesFound(present("packages", FLAGGED_APPS)),
};
