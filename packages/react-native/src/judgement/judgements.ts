import type { Platform, ProbeId } from "@device-risk-signals/contract/catalog/fields";
import type { Judgements } from "./judgement.ts";
import { mediaBluetoothAppsAndroid } from "./media-bluetooth-apps-android.ts";
import { mediaBluetoothAppsIos } from "./media-bluetooth-apps-ios.ts";
import { networkIos } from "./network-ios.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { osIntegrityAndroid } from "./os-integrity-android.ts";
import { osIntegrityIos } from "./os-integrity-ios.ts";
import { transactionSafetyAndroid } from "./transaction-safety-android.ts";

/** Every field that is concluded from evidence. All others native code reads as they are. */
export const JUDGEMENTS: Readonly<Record<Platform, Readonly<Partial<Record<ProbeId, Judgements>>>>> = {
  android: {
    os_integrity: osIntegrityAndroid,
    media_bluetooth_apps: mediaBluetoothAppsAndroid,
    transaction_safety: transactionSafetyAndroid,
    numeric_consistency: numericConsistency,
  },
  ios: {
    os_integrity: osIntegrityIos,
    network: networkIos,
    media_bluetooth_apps: mediaBluetoothAppsIos,
    numeric_consistency: numericConsistency,
  },
};
