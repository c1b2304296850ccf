import type { Judgements } from "./judgement.ts";

export const numericConsistency: Judgements = {};
