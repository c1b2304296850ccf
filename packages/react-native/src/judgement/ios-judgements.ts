import { applicationIos } from "./application-ios.ts";
import { mediaBluetoothAppsIos } from "./media-bluetooth-apps-ios.ts";
import { networkIos } from "./network-ios.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { IOS_RULES, type IosRules, osIntegrityIos } from "./os-integrity-ios.ts";

export function iosJudgements(rules: IosRules = IOS_RULES) {
  return {
    os_integrity: osIntegrityIos(rules),
    network: networkIos(rules),
    application: applicationIos(rules),
    media_bluetooth_apps: mediaBluetoothAppsIos,
    numeric_consistency: numericConsistency,
  };
}
