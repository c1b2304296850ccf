import { mediaBluetoothAppsIos } from "./media-bluetooth-apps-ios.ts";
import { networkIos } from "./network-ios.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { osIntegrityIos } from "./os-integrity-ios.ts";

export const IOS_JUDGEMENTS = {
  os_integrity: osIntegrityIos,
  network: networkIos,
  media_bluetooth_apps: mediaBluetoothAppsIos,
  numeric_consistency: numericConsistency,
};
