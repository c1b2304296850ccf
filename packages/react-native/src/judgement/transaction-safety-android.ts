import { REMOTE_ACCESS_APPS } from "./flagged-apps.ts";
import { countOf, type Judgements, whichPresent } from "./judgement.ts";

const remoteAccessAppsFound = whichPresent("packages", REMOTE_ACCESS_APPS);

export const transactionSafetyAndroid: Judgements = {
  remoteAccessAppsFound,
  remoteAccessAppCount: countOf(remoteAccessAppsFound),
};
