import { additions, boolean, number, type Permission, type Probe, string, strings } from "./declare.ts";
import { INSTALLED_APPS } from "./disclosure.ts";
import { IDENTIFIER } from "./forms.ts";

const SCREENSHOT: Permission = { android: "DETECT_SCREEN_CAPTURE" };
const RECORDING: Permission = { android: "DETECT_SCREEN_RECORDING" };

export const transactionSafety: Probe = {
  id: "transaction_safety",
  title: "Transaction safety",
  meaning:
    "What the SDK noticed during the observation window (screenshots, touches while another window covered that of the app), and the state at collection: screen capture, calls, remote access apps.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: INSTALLED_APPS,
  fields: {
    transactionObservationStartedElapsedMs: number(
      "ms",
      "When the observation began, on the clock that counts from boot (SystemClock.elapsedRealtime).",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    isInteractive: boolean(
      "The device is awake and in use: PowerManager.isInteractive on Android; on iOS the app is active, and false never occurs.",
      {
        sensitivity: "medium",
      },
    ),
    isDeviceLocked: boolean("KeyguardManager.isDeviceLocked: unlocking now takes a credential.", {
      on: "android",
      sensitivity: "medium",
    }),

    isScreenCaptured: boolean(
      "The screen is recorded or cast now: UIScreen.isCaptured on iOS; on Android 15 and later a recording that shows this app.",
      {
        sensitivity: "medium",
        permission: RECORDING,
        systems: { android: { since: 35 } },
      },
    ),
    isScreenMirrored: boolean(
      "The main screen is mirrored to another one; false means that the SDK looked and found none.",
      {
        on: "ios",
        sensitivity: "medium",
      },
    ),
    isVisibleInScreenRecording: boolean(
      "A screen recording shows this app (WindowManager screen recording callback, Android 15 and later).",
      {
        on: "android",
        sensitivity: "medium",
        permission: RECORDING,
        systems: { android: { since: 35 } },
      },
    ),
    screenshotObservationActive: boolean(
      "Screenshots are being watched for (Android 14 and later); while false, the absence of screenshots has no meaning.",
      {
        on: "android",
        permission: SCREENSHOT,
      },
    ),
    screenshotDetectedSinceObservationStart: boolean(
      "A screenshot of the app was noticed since the start; false means that the SDK watched and noticed none.",
      {
        on: "android",
        sensitivity: "medium",
        permission: SCREENSHOT,
        systems: { android: { since: 34 } },
      },
    ),
    lastScreenshotDetectedElapsedMs: number(
      "ms",
      "When the last screenshot was noticed, on the clock that counts from boot; absent if none was.",
      {
        on: "android",
        sensitivity: "medium",
        permission: SCREENSHOT,
        systems: { android: { since: 34 } },
      },
    ),

    observedTouchCount: number(
      "count",
      "Touches that were examined since the start; with 0 the fields on obscured touches have no meaning.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    obscuredTouchObserved: boolean(
      "A touch on the activity's own window came with FLAG_WINDOW_IS_OBSCURED: another window covered the touched spot. The probe does not look at the separate windows of modal views.",
      { on: "android", sensitivity: "medium" },
    ),
    lastObscuredTouchElapsedMs: number(
      "ms",
      "When the last such touch came, on the clock that counts from boot; absent if none did.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    partiallyObscuredTouchObserved: boolean(
      "A touch came with FLAG_WINDOW_IS_PARTIALLY_OBSCURED: the window was covered elsewhere than at the spot.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    lastPartiallyObscuredTouchElapsedMs: number(
      "ms",
      "When the last such touch came, on the clock that counts from boot; absent if none did.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),

    isCallActive: boolean(
      "A telephone or internet call appears to be going on; with whom is not known. iOS: `CXCallObserver` lists a call that has not ended, so a call that rings counts; absent if the process has not loaded CallKit, which the app decides.",
      {
        sensitivity: "high",
      },
    ),
    audioMode: string("AudioManager.getMode: normal, ringing, in call or in communication.", {
      on: "android",
      sensitivity: "high",
      values: [
        "normal",
        "ringing",
        "in_call",
        "in_communication",
        "call_screening",
        "call_redirect",
        "communication_redirect",
      ],
    }),
    accessibilityRunning: boolean(
      "Assistive technology is on: AccessibilityManager.isEnabled on Android, VoiceOver or its like on iOS.",
      {
        sensitivity: "high",
      },
    ),
    enabledAccessibilityServiceCount: number(
      "count",
      "Enabled accessibility services; absent when the setting can't be read.",
      { on: "android", sensitivity: "high" },
    ),
    accessibilityFeatureCount: number(
      "count",
      "Accessibility settings that are on, of the ones that `UIAccessibility` reports.",
      { on: "ios", sensitivity: "high" },
    ),
    remoteAccessAppsFound: strings(
      "Remote access apps of a fixed list that are installed; not that one of them is in use.",
      { on: "android", sensitivity: "high", form: IDENTIFIER },
    ),
    remoteAccessAppCount: number("count", "How many remote access apps of that list are installed.", {
      on: "android",
      sensitivity: "high",
    }),

    ...additions({
      virtualDeviceTouchCount: number(
        "count",
        "Of the examined touches, those whose event names no physical input device (InputEvent.getDeviceId is 0, or below 0: InputDevice.isVirtual). Software made them: the gesture of an accessibility service, which a person may need, remote control, a test or `adb`. A tool that makes an input device of its own is not counted, and systems before Android 12 may keep the device that the tool names.",
        { on: "android", sensitivity: "medium" },
      ),
    }),
  },
};
