import { category, feature, field } from "@device-risk-signals/features";

const KINDS = new Map<string, "play" | "maker" | "by-hand">([
  ["com.android.vending", "play"],
  ["com.sec.android.app.samsungapps", "maker"],
  ["com.huawei.appmarket", "maker"],
  ["com.xiaomi.mipicks", "maker"],
  ["com.xiaomi.market", "maker"],
  ["com.heytap.market", "maker"],
  ["com.vivo.appstore", "maker"],
  ["com.amazon.venezia", "maker"],
  ["com.android.packageinstaller", "by-hand"],
  ["com.google.android.packageinstaller", "by-hand"],
  ["com.android.shell", "by-hand"],
]);

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
    return reading.state === "observed" ? (KINDS.get(reading.value) ?? "other") : null;
  },
  fixtures: "./install-source.fixtures.json",
});
