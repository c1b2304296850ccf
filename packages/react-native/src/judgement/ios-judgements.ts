import { everyGuard, type Guards } from "./guards.ts";
import { mediaBluetoothAppsIos } from "./media-bluetooth-apps-ios.ts";
import { networkIos } from "./network-ios.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { osIntegrityIos } from "./os-integrity-ios.ts";

export function iosJudgements(guards: Guards = everyGuard) {
  return {
    os_integrity: osIntegrityIos(guards),
    network: networkIos(guards),
    media_bluetooth_apps: mediaBluetoothAppsIos,
    numeric_consistency: numericConsistency,
  };
}
