import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PROBE_IDS } from "@device-risk-signals/contract/catalog/fields";
import { expect, it } from "vitest";
import { installTimePermissions } from "./permissions.ts";

it("installTimePermissions lists the permissions of the named probes that Android grants at installation, each with all fields that it unlocks", () => {
  expect(installTimePermissions(["network", "locale"])).toEqual([
    {
      permission: "ACCESS_NETWORK_STATE",
      probe: "network",
      fields: expect.arrayContaining(["isVpnActive"]) as string[],
    },
  ]);
  expect(installTimePermissions(["network"])[0]?.fields).toHaveLength(14);
  expect(installTimePermissions(["geolocation", "telephony"])).toEqual([]);
});

it("the guide's table of permissions lists all permissions that a probe can use", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../../docs/integrator-mobile.md"), "utf8");
  const rows = [...guide.matchAll(/^\| `([A-Z_]+)` +\| `(\w+)` +\|/gm)].map(
    ([, permission, probe]) => `${permission} ${probe}`,
  );
  const known = installTimePermissions(PROBE_IDS).map(({ permission, probe }) => `${permission} ${probe}`);
  expect(rows.sort()).toEqual(known.sort());
});
