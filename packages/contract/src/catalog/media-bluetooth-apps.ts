import { boolean, number, type Probe, string, strings } from "./declare.ts";
import { INSTALLED_APPS } from "./disclosure.ts";
import { IDENTIFIER, SCHEME } from "./forms.ts";

const ROUTES = ["speaker", "earpiece", "headphones", "bluetooth", "usb", "hdmi", "other"];
const AUDIO_ROUTES = {
  android: [...ROUTES, "hearing_aid", "remote"],
  ios: [...ROUTES, "line_out", "air_play", "car_audio"],
};

const ACCESSIBILITY_FEATURES = [
  "voice_over",
  "switch_control",
  "assistive_touch",
  "guided_access",
  "mono_audio",
  "closed_captioning",
  "speak_selection",
  "speak_screen",
  "invert_colors",
  "grayscale",
  "darker_system_colors",
  "reduce_transparency",
  "reduce_motion",
  "prefers_cross_fade_transitions",
  "bold_text",
  "button_shapes",
  "on_off_switch_labels",
  "differentiate_without_color",
];

export const mediaBluetoothApps: Probe = {
  id: "media_bluetooth_apps",
  title: "Media, Bluetooth and apps",
  meaning:
    "Audio, screens, accessibility use and listed apps around a session, for hosts that look for remote control.",
  platforms: ["android", "ios"],
  enabledByDefault: false,
  disclosure: INSTALLED_APPS,
  fields: {
    audioOutputRoute: string(
      "Current sound output: AudioManager.getAudioDevicesForAttributes on Android, AVAudioSession.currentRoute on iOS.",
      {
        sensitivity: "medium",
        values: AUDIO_ROUTES,
        systems: { android: { since: 33 } },
      },
    ),
    isMusicActive: boolean("AudioManager.isMusicActive: some app, this one included, plays music.", {
      on: "android",
      sensitivity: "medium",
    }),
    isOtherAudioPlaying: boolean("AVAudioSession.isOtherAudioPlaying: another app plays sound.", {
      on: "ios",
      sensitivity: "medium",
    }),
    bluetoothBondedDeviceCount: number(
      "count",
      "Paired Bluetooth devices (names and addresses are not read); needs the permission from API 31 on.",
      {
        on: "android",
        sensitivity: "medium",
        permission: { android: "BLUETOOTH_CONNECT" },
      },
    ),

    isScreenCaptured: boolean(
      "The screen is recorded or cast now: UIScreen.isCaptured on iOS; on Android 15 and later a recording that shows this app.",
      {
        sensitivity: "medium",
        permission: { android: "DETECT_SCREEN_RECORDING" },
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
    connectedScreenCount: number("count", "Screens connected, the built-in one included.", {
      on: "ios",
      sensitivity: "medium",
    }),
    mirroredScreenCount: number("count", "Connected screens that mirror another screen.", {
      on: "ios",
      sensitivity: "medium",
    }),
    displayCount: number(
      "count",
      "Displays that DisplayManager lists, the built-in one and visible virtual ones included.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),
    presentationDisplayCount: number(
      "count",
      "Displays that DisplayManager lists as fit for presentations, such as external ones.",
      {
        on: "android",
        sensitivity: "medium",
      },
    ),

    accessibilityRunning: boolean(
      "Assistive technology is on: AccessibilityManager.isEnabled on Android, VoiceOver or its like on iOS.",
      {
        sensitivity: "high",
      },
    ),
    enabledAccessibilityServices: strings(
      "Enabled accessibility services; most serve people who need them. Absent if unreadable.",
      {
        on: "android",
        sensitivity: "high",
        raw: true,
      },
    ),
    accessibilityFeatures: strings("Accessibility settings that are on, of the ones that `UIAccessibility` reports.", {
      on: "ios",
      sensitivity: "high",
      values: ACCESSIBILITY_FEATURES,
    }),
    installedFlaggedApps: strings(
      "Apps of a fixed list, declared in the manifest's queries, that are installed; no other is looked for.",
      {
        on: "android",
        sensitivity: "high",
        form: IDENTIFIER,
      },
    ),
    openableFlaggedSchemes: strings(
      "Listed URL schemes some app can open; absent unless declared in LSApplicationQueriesSchemes.",
      {
        on: "ios",
        sensitivity: "high",
        form: SCHEME,
      },
    ),
  },
};
