import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { runWithBreakGlass } from "./command.ts";

/** Applies a policy by which all action types have one purpose with this retention period. */
export async function applyPeriod(
  environment: Record<string, string>,
  folder: string,
  period: string,
  derived = "P1Y",
): Promise<void> {
  const file = join(folder, "policy.yaml");
  const purpose = { id: "default", title: "t", legal_basis: "l", derived_retention: derived, owner: "o" };
  const policy = { purposes: [{ ...purpose, raw_retention: period }], actions: {}, unmapped: "default" };
  await writeFile(file, JSON.stringify(policy));
  const { code, stderr } = await runWithBreakGlass(environment, "purpose", "apply", file, "--yes");
  if (code !== 0) throw new Error(stderr);
}
