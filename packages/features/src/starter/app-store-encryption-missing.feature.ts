import { feature, field, flag } from "@device-risk-signals/features";

export const appStoreEncryptionMissing = feature({
  id: "app_store_encryption_missing",
  version: 1,
  owner: "fraud team",
  meaning: "The executable of the app has no App Store encryption; iOS",
  falseReadings: ["Builds for development, TestFlight on a Mac and enterprise builds have none"],
  purposes: ["payments"],
  inputs: {
    encrypted: field("os_integrity.mainExecutableEncrypted"),
  },
  output: flag(),
  compute: ({ encrypted }) => (encrypted.state === "observed" ? !encrypted.value : null),
  fixtures: "./app-store-encryption-missing.fixtures.json",
});
