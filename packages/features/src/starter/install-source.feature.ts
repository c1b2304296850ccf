import { category, feature, field } from "@device-risk-signals/features";

const MAKERS = Object.freeze([
  "com.sec.android.app.samsungapps",
  "com.huawei.appmarket",
  "com.xiaomi.mipicks",
  "com.xiaomi.market",
  "com.heytap.market",
  "com.vivo.appstore",
  "com.amazon.venezia",
]);
const BY_HAND = Object.freeze([
  "com.android.packageinstaller",
  "com.google.android.packageinstaller",
  "com.android.shell",
]);

function kindOf(installer: string): "play" | "maker" | "by-hand" | "other" {
  if (installer === "com.android.vending") return "play";
  if (MAKERS.includes(installer)) return "maker";
  return BY_HAND.includes(installer) ? "by-hand" : "other";
}

export const installSource = feature({
  id: "install_source",
  version: 1,
  owner: "fraud team",
  meaning: "Which kind of installer the system names for the app; Android",
  falseReadings: [
    "Makers, companies and regions have stores of their own: `other` is no sign of a changed app",
    "Root can rewrite the installer",
  ],
  purposes: ["payments"],
  inputs: {
    installer: field("application.installingPackageName"),
    recorded: field("application.installerPackage"),
  },
  output: category(["play", "maker", "by-hand", "other"]),
  compute: ({ installer, recorded }) => {
    // Before API 30, Android has only the installer of record.
    const reading = installer.state === "omitted" && installer.why === "field-absent" ? recorded : installer;
    return reading.state === "observed" ? kindOf(reading.value) : null;
  },
  fixtures: "./install-source.fixtures.json",
});
