import { androidJudgements } from "./android-judgements.ts";
import type { JudgementsByPlatform } from "./judgement.ts";

export const JUDGEMENTS: JudgementsByPlatform = { android: androidJudgements(), ios: {} };
