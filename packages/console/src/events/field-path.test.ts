import { expect, it } from "vitest";
import { reviewedPathOf } from "./field-path.ts";

it.each([
  ["/probes/hardware/data/isFoldable", "hardware.isFoldable"],
  ["/probes/device_identity/data/androidBuild/sdkInt", "device_identity.androidBuild.sdkInt"],
  ["/probes/app_attestation/data", "app_attestation"],
  ["/probes/a/data/b/c/d", undefined],
  ["/probes/a/data/b.c", undefined],
  ["/probes/a/data/b~1c", undefined],
  ["/probes/a/data/\u202Eb", undefined],
  ["/session_id", undefined],
])("a review names %s as %s", (path, reviewed) => expect(reviewedPathOf(path)).toBe(reviewed));
