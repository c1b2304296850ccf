import { boolean, type Probe, string } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const runtime: Probe = {
  id: "runtime",
  title: "Runtime",
  meaning:
    "The JavaScript engine and the React Native architecture the host app runs on. Shared by all installs of an app build.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    jsEngine: string("JavaScript engine that was recognised, such as hermes.", { values: ["hermes"] }),
    isHermes: boolean("The engine is Hermes, by its global HermesInternal."),
    hermesVersion: string("Version of Hermes as it reports it; absent on other engines.", { raw: true }),
    reactNativeVersion: string("Version of React Native, from the constants of its Platform module.", { raw: true }),
    platformOs: string("Platform.OS as React Native reports it.", { values: { android: ["android"], ios: ["ios"] } }),
    isFabric: boolean("The Fabric renderer is in use."),
    isTurboModule: boolean("Native modules are reached as TurboModules."),
    isBridgeless: boolean("React Native runs without the old bridge."),
    isDebugBuild: boolean(
      "The JavaScript was bundled for development (__DEV__); not whether the native app is debuggable.",
    ),
  },
};
