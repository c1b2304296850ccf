import type { Judgements } from "./judgement.ts";

export const mediaBluetoothAppsIos: Judgements = {};
