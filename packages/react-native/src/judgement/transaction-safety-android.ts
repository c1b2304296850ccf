import type { Judgements } from "./judgement.ts";

export const transactionSafetyAndroid: Judgements = {};
