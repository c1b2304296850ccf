/**
 * Every field that is concluded from evidence. Native code or JavaScript reads all other fields. An app's bundle
 * contains only the judgements of its own platform, because Metro replaces this file with `judgements.android.ts` or
 * `judgements.ios.ts`.
 */
import { androidJudgements } from "./android-judgements.ts";
import { iosJudgements } from "./ios-judgements.ts";
import type { JudgementsByPlatform } from "./judgement.ts";

export const JUDGEMENTS: JudgementsByPlatform = { android: androidJudgements(), ios: iosJudgements() };
