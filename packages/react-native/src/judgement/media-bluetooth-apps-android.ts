import type { Judgements } from "./judgement.ts";

export const mediaBluetoothAppsAndroid: Judgements = {};
