import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";

const SCRIPT = `
import { registerHooks } from "node:module";
import { ROUTE_IDS } from "@device-risk-signals/admin-api";
import { createAdminApi } from "./admin-api.ts";
import { callOperation } from "../../operations/operations.ts";
await createAdminApi({ ports: { keys: async () => ({}) }, document: "{}" });
const found = [];
registerHooks({ load: (url, context, next) => (found.push(url), next(url, context)) });
for (const id of ROUTE_IDS) await callOperation(id, {}).catch(() => {});
process.stdout.write(JSON.stringify(found.filter((url) => url.includes("/operations/"))));
`;

test("no call mixes two releases after an upgrade has replaced the files of a server that still runs", () => {
  const args = ["--input-type=module-typescript", "--eval", SCRIPT];
  const found = execFileSync(process.execPath, args, { cwd: import.meta.dirname, encoding: "utf8" });
  expect(JSON.parse(found)).toEqual([]);
});
