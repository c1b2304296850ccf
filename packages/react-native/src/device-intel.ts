import type { Configuration } from "./configuration.ts";
import { DeviceIntelOnHost } from "./device-intel-on-host.ts";
import { reactNativeHost } from "./native/react-native-host.ts";

/**
 * Collects raw observations of the device. It sends no data, stores no data, requests no permission, and draws no
 * conclusion about trust.
 */
export class DeviceIntel extends DeviceIntelOnHost {
  /** The constructor reads nothing from the device. `collect` reports every problem of a wrong configuration. */
  constructor(configuration: Configuration = {}) {
    super(configuration, reactNativeHost);
  }
}
