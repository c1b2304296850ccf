import type { Judgements } from "./judgement.ts";

export const networkIos: Judgements = {};
