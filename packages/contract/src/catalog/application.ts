import { additions, boolean, number, type Probe, string, strings } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";
import { IDENTIFIER, SHA256, VERSION } from "./forms.ts";

export const application: Probe = {
  id: "application",
  title: "Application",
  meaning: "The host app as installed: version, signer, where it came from, and what it was granted.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    bundleId: string("Package name on Android, bundle identifier on iOS.", { form: IDENTIFIER }),
    appName: string("Label of the app as users see it.", { on: "android", raw: true }),
    appVersion: string("Version shown to users: versionName on Android, CFBundleShortVersionString on iOS.", {
      raw: true,
    }),
    appBuild: string("Build number: version code on Android, CFBundleVersion on iOS.", { raw: true }),
    bundleExecutable: string("CFBundleExecutable: name of the main executable.", { on: "ios", raw: true }),
    minimumOsVersion: string("MinimumOSVersion of the bundle: lowest iOS the app accepts.", {
      on: "ios",
      form: VERSION,
    }),
    targetSdkVersion: number("API level", "ApplicationInfo.targetSdkVersion: API level the app is written for.", {
      on: "android",
    }),
    minSdkVersion: number("API level", "ApplicationInfo.minSdkVersion: lowest API level the app accepts.", {
      on: "android",
    }),
    isDebuggable: boolean(
      "The build is meant for debugging (ApplicationInfo.FLAG_DEBUGGABLE on Android); not that a debugger is attached.",
    ),
    isSimulatorBuild: boolean("The app was compiled for the iOS Simulator.", { on: "ios" }),
    isAppExtension: boolean("The code runs in an app extension, not in the app itself.", { on: "ios" }),
    isInstantApp: boolean("PackageManager.isInstantApp: the app runs without being installed.", {
      on: "android",
      sensitivity: "medium",
      systems: { android: { since: 26 } },
    }),
    isSystemApp: boolean("ApplicationInfo.FLAG_SYSTEM: the app is part of the system image.", { on: "android" }),
    isUpdatedSystemApp: boolean("ApplicationInfo.FLAG_UPDATED_SYSTEM_APP: an update of an app of the system image.", {
      on: "android",
      sensitivity: "medium",
    }),
    isInstalledOnExternalStorage: boolean(
      "ApplicationInfo.FLAG_EXTERNAL_STORAGE: the app is installed on external storage.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    isSplitApks: boolean("The app is installed as several APKs, as from an app bundle; false means one APK.", {
      on: "android",
    }),
    splitNames: strings("Names of the installed splits; they reflect the device's languages and screen.", {
      on: "android",
      sensitivity: "medium",
      raw: true,
    }),

    signingCertificateSha256: strings("SHA-256 of the certificates that sign the installed app now, one per signer.", {
      on: "android",
      form: SHA256,
    }),
    signingCertificateHistorySha256: strings(
      "SHA-256 of the app's present and past signing certificates (SigningInfo history).",
      { on: "android", form: SHA256, systems: { android: { since: 28 } } },
    ),
    hasMultipleSigners: boolean("SigningInfo.hasMultipleSigners: several signers at once, not a rotated key.", {
      on: "android",
    }),
    embeddedProvisioningProfilePresent: boolean(
      "The bundle holds a provisioning profile; App Store installs hold none.",
      { on: "ios" },
    ),
    getTaskAllowEntitlement: boolean("The entitlement get-task-allow is set. Never filled: no public API reports it.", {
      on: "never",
    }),

    installerPackage: string("Installer of record, as PackageManager reports it; absent when the system knows none.", {
      on: "android",
      sensitivity: "medium",
      form: IDENTIFIER,
    }),
    installingPackageName: string(
      "InstallSourceInfo.getInstallingPackageName (API 30 and later): package that performed the install.",
      {
        on: "android",
        sensitivity: "medium",
        form: IDENTIFIER,
        systems: { android: { since: 30 } },
      },
    ),
    initiatingPackageName: string(
      "InstallSourceInfo.getInitiatingPackageName (API 30 and later): package that requested the install.",
      {
        on: "android",
        sensitivity: "medium",
        form: IDENTIFIER,
        systems: { android: { since: 30 } },
      },
    ),
    initiatingPackageSigningCertificateSha256: strings(
      "SHA-256 of the certificates of the package that requested the install.",
      {
        on: "android",
        sensitivity: "medium",
        form: SHA256,
        systems: { android: { since: 30 } },
      },
    ),
    installPackageSource: string(
      "InstallSourceInfo.getPackageSource (API 33 and later), such as store or local file; the installer states it.",
      {
        on: "android",
        sensitivity: "medium",
        values: ["unspecified", "other", "store", "local_file", "downloaded_file"],
        systems: { android: { since: 33 } },
      },
    ),
    updateOwnerPackageName: string(
      "InstallSourceInfo.getUpdateOwnerPackageName (API 34 and later): package that owns updates.",
      {
        on: "android",
        sensitivity: "medium",
        form: IDENTIFIER,
        systems: { android: { since: 34 } },
      },
    ),
    firstInstallTimeMs: number("epoch ms", "PackageInfo.firstInstallTime: when the app was first installed.", {
      on: "android",
      sensitivity: "medium",
    }),
    lastUpdateTimeMs: number(
      "epoch ms",
      "PackageInfo.lastUpdateTime: when the app was last updated; equal to the install time if never.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    receiptPresent: boolean(
      "A store receipt exists where the bundle says; false is normal for builds that never came from the store.",
      {
        on: "ios",
        sensitivity: "medium",
      },
    ),
    receiptEnvironment: string(
      "Production or sandbox, by the location of the receipt; its contents are not verified.",
      { on: "ios", sensitivity: "medium", values: ["production", "sandbox"] },
    ),

    isForeground: boolean("The app was in the foreground when the event was collected.", {
      on: "android",
      sensitivity: "medium",
    }),
    processUptimeMs: number("ms", "Time since this app's process was started.", {
      on: "android",
      sensitivity: "medium",
    }),
    grantedPermissions: strings("Permissions this app requests and holds now; one that is missing was not granted.", {
      on: "android",
      sensitivity: "medium",
      form: IDENTIFIER,
    }),

    ...additions({
      androidUserId: number(
        "none",
        "Number of the Android user in which the app runs (uid / 100000), not of a person: 0 for the first user; another one for a second user, a work profile, a private space or the clone that a maker's dual-app feature runs, and for everybody on a system whose user 0 has no screen (10 then).",
        { on: "android", sensitivity: "medium", range: { min: 0, integer: true } },
      ),
      isDataFolderOwn: boolean(
        "ApplicationInfo.dataDir is the folder that the system makes for this app and this user. False as a rule means that another app runs this one inside itself; a tool that hides itself reports the ordinary folder. The path is not sent, because it can name other apps.",
        { on: "android", sensitivity: "medium" },
      ),
      runsInsideAnotherApp: boolean(
        "A trace of LiveContainer, which loads an app into its own process without installing it: its variables, or an image from its folder of apps. False means that both were examined; a tool that hides its traces is not seen. On Android see isDataFolderOwn.",
        { on: "ios", sensitivity: "medium" },
      ),
      trollStoreMarkFound: boolean(
        "The folder that contains the app's bundle has the file with which TrollStore (iOS 14 to 17.0) marks an app that it installed: the app did not come from the store and can hold any entitlement. False means that the SDK looked and found none.",
        { on: "ios", sensitivity: "medium" },
      ),
    }),
  },
};
