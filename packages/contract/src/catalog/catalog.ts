import { application } from "./application.ts";
import { audioLatency } from "./audio-latency.ts";
import type { Probe } from "./declare.ts";
import { deviceIdentity } from "./device-identity.ts";
import { deviceSecurityPosture } from "./device-security-posture.ts";
import { fonts } from "./fonts.ts";
import { geolocation } from "./geolocation.ts";
import { gpuBenchmark } from "./gpu-benchmark.ts";
import { hardware } from "./hardware.ts";
import { locale } from "./locale.ts";
import { mediaBluetoothApps } from "./media-bluetooth-apps.ts";
import { network } from "./network.ts";
import { numericConsistency } from "./numeric-consistency.ts";
import { osIntegrity } from "./os-integrity.ts";
import { osIntegrityForkTest } from "./os-integrity-fork-test.ts";
import { osIntegrityFridaScan } from "./os-integrity-frida-scan.ts";
import { runtime } from "./runtime.ts";
import { runtimeTiming } from "./runtime-timing.ts";
import { telephony } from "./telephony.ts";
import { transactionSafety } from "./transaction-safety.ts";

/**
 * Every probe of the contract with all its fields, in the contract's order. Types, schemas and documents derive from
 * it.
 */
export const CATALOG: readonly Probe[] = [
  deviceIdentity,
  hardware,
  fonts,
  osIntegrity,
  osIntegrityFridaScan,
  osIntegrityForkTest,
  network,
  telephony,
  locale,
  geolocation,
  mediaBluetoothApps,
  gpuBenchmark,
  audioLatency,
  application,
  deviceSecurityPosture,
  transactionSafety,
  runtime,
  runtimeTiming,
  numericConsistency,
];
