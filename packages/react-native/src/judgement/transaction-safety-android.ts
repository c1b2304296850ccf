import { countFound, present, namesFound } from "./finding.ts";
import { REMOTE_ACCESS_APPS } from "./flagged-apps.ts";
import type { Judgements } from "./judgement.ts";

const apps = present("packages", REMOTE_ACCESS_APPS);

export const transactionSafetyAndroid: Judgements = {
  remoteAccessAppsFound: namesFound(apps),
  remoteAccessAppCount: countFound(apps),
};
