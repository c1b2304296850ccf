/**
 * Every field that is concluded from evidence. All others native code reads as they are. An app's bundle has those of its
 * own platform only: Metro takes `judgements.android.ts` or `judgements.ios.ts` in the place of this file.
 */
import { ANDROID_JUDGEMENTS } from "./android-judgements.ts";
import { IOS_JUDGEMENTS } from "./ios-judgements.ts";
import type { JudgementsByPlatform } from "./judgement.ts";

export const JUDGEMENTS: JudgementsByPlatform = { android: ANDROID_JUDGEMENTS, ios: IOS_JUDGEMENTS };
