import type { AndroidRules } from "./android-rules.ts";
import { mediaBluetoothAppsAndroid } from "./media-bluetooth-apps-android.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { osIntegrityAndroid } from "./os-integrity-android.ts";
import { transactionSafetyAndroid } from "./transaction-safety-android.ts";

export function androidJudgements(rules?: AndroidRules) {
  return {
    os_integrity: osIntegrityAndroid(rules),
    media_bluetooth_apps: mediaBluetoothAppsAndroid,
    transaction_safety: transactionSafetyAndroid,
    numeric_consistency: numericConsistency,
  };
}
