import type { Configuration } from "./configuration.ts";
import { DeviceIntelOnHost } from "./device-intel-on-host.ts";
import { reactNativeHost } from "./native/react-native-host.ts";

/**
 * Collects raw observations of the device. It sends nothing, stores nothing, asks for no permission, and concludes
 * nothing about trust.
 */
export class DeviceIntel extends DeviceIntelOnHost {
  /** Looks at nothing of the device. A wrong configuration is told by `collect`, whole. */
  constructor(configuration: Configuration = {}) {
    super(configuration, reactNativeHost);
  }
}
