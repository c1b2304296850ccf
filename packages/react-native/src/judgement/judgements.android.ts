import { ANDROID_JUDGEMENTS } from "./android-judgements.ts";
import type { JudgementsByPlatform } from "./judgement.ts";

export const JUDGEMENTS: JudgementsByPlatform = { android: ANDROID_JUDGEMENTS, ios: {} };
