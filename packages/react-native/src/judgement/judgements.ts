/**
 * Every field that is concluded from evidence. All others native code reads as they are. An app's bundle has those of its
 * own platform only: Metro takes `judgements.android.ts` or `judgements.ios.ts` in the place of this file.
 */
import { androidJudgements } from "./android-judgements.ts";
import { iosJudgements } from "./ios-judgements.ts";
import type { JudgementsByPlatform } from "./judgement.ts";

export const JUDGEMENTS: JudgementsByPlatform = { android: androidJudgements(), ios: iosJudgements() };
