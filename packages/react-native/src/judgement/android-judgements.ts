import { everyGuard, type Guards } from "./guards.ts";
import { mediaBluetoothAppsAndroid } from "./media-bluetooth-apps-android.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { osIntegrityAndroid } from "./os-integrity-android.ts";
import { transactionSafetyAndroid } from "./transaction-safety-android.ts";

export function androidJudgements(guards: Guards = everyGuard) {
  return {
    os_integrity: osIntegrityAndroid(guards),
    media_bluetooth_apps: mediaBluetoothAppsAndroid,
    transaction_safety: transactionSafetyAndroid,
    numeric_consistency: numericConsistency,
  };
}
