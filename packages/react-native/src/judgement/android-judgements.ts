import { mediaBluetoothAppsAndroid } from "./media-bluetooth-apps-android.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { osIntegrityAndroid } from "./os-integrity-android.ts";
import { transactionSafetyAndroid } from "./transaction-safety-android.ts";

export const ANDROID_JUDGEMENTS = {
  os_integrity: osIntegrityAndroid,
  media_bluetooth_apps: mediaBluetoothAppsAndroid,
  transaction_safety: transactionSafetyAndroid,
  numeric_consistency: numericConsistency,
};
