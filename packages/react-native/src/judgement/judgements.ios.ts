import { iosJudgements } from "./ios-judgements.ts";
import type { JudgementsByPlatform } from "./judgement.ts";

export const JUDGEMENTS: JudgementsByPlatform = { android: {}, ios: iosJudgements() };
