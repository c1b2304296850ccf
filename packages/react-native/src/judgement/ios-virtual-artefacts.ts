/**
 * Artefacts of the iOS Simulator (Xcode's CoreSimulator sets the variables and loads its own system libraries) and
 * Corellium's virtual devices (OWASP MASTG, emulator detection on iOS).
 */
import { imagesNamed } from "./jailbreak-artefacts.ts";
import { under } from "./under.ts";

export const SIMULATOR_VARIABLES = under("SIMULATOR_", "UDID DEVICE_NAME MODEL_IDENTIFIER RUNTIME_VERSION ROOT");

export const SIMULATOR_IMAGES = under("", "dyld_sim libsystem_sim_kernel.dylib libsystem_sim_platform.dylib");
export const simulatorImage = imagesNamed(SIMULATOR_IMAGES);

export function isSimulatorImage(path: string): boolean {
  return path.includes("/CoreSimulator/") || simulatorImage(path) !== undefined;
}

export const CORELLIUM_PATHS = ["/usr/libexec/corelliumd"];

/** Rosetta, which runs x86 code on Macs with Apple's own processors. */
export const TRANSLATOR_IMAGES = under("", "libRosettaRuntime RosettaRuntime");
export const translatorImage = imagesNamed(TRANSLATOR_IMAGES);

/** Variables of XCTest and WebDriverAgent, with which device farms control a device. */
export const FARM_VARIABLES = under("XCTest", "ConfigurationFilePath BundlePath");
export const FARM_IMAGES = under("", "XCTest libXCTestBundleInject.dylib WebDriverAgentLib");
export const farmImage = imagesNamed(FARM_IMAGES);
