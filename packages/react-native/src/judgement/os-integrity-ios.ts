import type { Judgements } from "./judgement.ts";

export const osIntegrityIos: Judgements = {};
