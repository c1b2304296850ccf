import type { Judgements } from "./judgement.ts";

export const osIntegrityAndroid: Judgements = {};
