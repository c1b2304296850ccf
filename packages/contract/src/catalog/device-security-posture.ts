import { additions, boolean, number, type Probe, string } from "./declare.ts";
import { DIAGNOSTICS } from "./disclosure.ts";

export const deviceSecurityPosture: Probe = {
  id: "device_security_posture",
  title: "Device security posture",
  meaning: "How well the device is secured by its own means: lock screen, biometrics, key storage, patch level, clock.",
  platforms: ["android", "ios"],
  enabledByDefault: true,
  disclosure: DIAGNOSTICS,
  fields: {
    hasSecureLockScreen: boolean(
      "A PIN, pattern, password or passcode is set; KeyguardManager.isDeviceSecure on Android.",
      { sensitivity: "medium" },
    ),
    isDeviceLocked: boolean("KeyguardManager.isDeviceLocked: unlocking now takes a credential.", {
      on: "android",
      sensitivity: "medium",
    }),
    isUserUnlocked: boolean(
      "UserManager.isUserUnlocked: unlocked at least once since boot, so that private storage is open.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    protectedDataAvailable: boolean(
      "UIApplication.isProtectedDataAvailable: protected files can be read now, as a rule while unlocked.",
      {
        on: "ios",
        sensitivity: "medium",
      },
    ),
    biometryAvailable: boolean(
      "Biometrics can be used now: hardware present and enrolled. False may mean either is missing; on Android without the permission false means that no hardware is declared, and true does not occur.",
      {
        sensitivity: "medium",
        permission: { android: "USE_BIOMETRIC" },
      },
    ),
    biometryType: string(
      "Kind of biometrics the device offers; on iOS by LAContext.biometryType: fingerprint is Touch ID, face is Face ID, iris is Optic ID. Says nothing about enrolment.",
      {
        values: {
          android: ["none", "fingerprint", "face", "iris", "multiple"],
          ios: ["none", "fingerprint", "face", "iris"],
        },
      },
    ),
    fingerprintHardwarePresent: boolean(
      "The system declares a fingerprint reader (PackageManager.FEATURE_FINGERPRINT); not that one is enrolled.",
      { on: "android" },
    ),
    faceHardwarePresent: boolean(
      "The system declares face authentication (PackageManager.FEATURE_FACE); not that a face is enrolled.",
      { on: "android", systems: { android: { since: 29 } } },
    ),
    strongBoxAvailable: boolean(
      "The system declares a StrongBox key store (PackageManager.FEATURE_STRONGBOX_KEYSTORE).",
      { on: "android", systems: { android: { since: 28 } } },
    ),
    securityPatch: string("Build.VERSION.SECURITY_PATCH: date of the patch level the system declares.", {
      on: "android",
      raw: true,
    }),
    automaticTimeEnabled: boolean(
      "Settings.Global.AUTO_TIME: the clock is set from the network; false means set by hand.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    automaticTimeZoneEnabled: boolean(
      "Settings.Global.AUTO_TIME_ZONE: the time zone is set from the network; false means set by hand.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    deviceProvisioned: boolean(
      "Settings.Global.DEVICE_PROVISIONED: first set-up was completed; says nothing about management.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),

    ...additions({
      userCertificateAuthorityCount: number(
        "count",
        "Certificate authorities in the store of this Android user, which the person, an employer or a school added. Filters of advertisements and tools of developers add one, too. An app trusts them only if its network security configuration says so; a modified system can have them among its own, which are not counted.",
        { on: "android", sensitivity: "medium" },
      ),
      networkTimeOffsetMs: number(
        "ms",
        "The device's clock minus the time that the system last got from the network (SystemClock.currentNetworkTimeClock): above 0 the device is ahead. Absent if the system has no such time. A person can set the clock by hand, and both can be wrong: the network's answer may be unprotected.",
        { on: "android", sensitivity: "medium", range: {}, systems: { android: { since: 33 } } },
      ),
    }),
  },
};
