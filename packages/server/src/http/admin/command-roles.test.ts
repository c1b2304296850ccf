/** Tests of commands about features, drift and exports whose caller lacks the permission. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Role } from "@device-risk-signals/admin-api";
import { beforeAll, describe, expect, it } from "vitest";
import { bundleOf } from "../../../../features/src/bundle.fixture.ts";
import { argumentsOf, commandsOfInstallation, runAsGiven } from "../../../../../e2e/support/command.ts";
import { useTestSystem } from "../../../../../e2e/support/test-system.ts";
import { useFolder } from "../../../../../e2e/support/use-folder.ts";
import { useAdminListener } from "./admin-scene.fixture.ts";

const folder = useFolder();
const opened = useTestSystem("file", () => ({ DRS_ERASURE_JOURNAL: join(folder(), "journal") }));
const listener = useAdminListener(() => opened.system);
const path = (name: string): string => join(folder(), name);

/**
 * The commands about features, drift and exports that use the admin API. `feature work` is not among them, because it
 * computes features on the database.
 */
const commands = commandsOfInstallation().filter((name) => /^(?:feature|drift|export) (?!work$)/.test(name));

/** A role that may not run the command. */
function roleWithout(command: string): Role {
  if (command.startsWith("feature backfill")) return "investigator";
  return command === "drift list" ? "privacy" : "operator";
}

/** Arguments of the commands that read a file before they call the admin API. */
const FILE_ARGUMENTS: Readonly<Record<string, () => readonly string[]>> = {
  "feature propose": () => [path("bundles.json"), "--reason", "review 17"],
  "feature equivalent": () => [path("bundles.json"), "--reason", "review 17"],
  "export verify": () => [path("export.csv")],
};

beforeAll(async () => {
  await writeFile(path("bundles.json"), JSON.stringify([bundleOf("() => true")]));
  await writeFile(path("export.csv"), "");
  const export_id = "019a0000-0000-7000-8000-000000000000";
  await writeFile(path("export.csv.manifest.json"), JSON.stringify({ export_id }));
});

it("the commands are those of features, drift and exports", () => {
  expect(commands).toEqual(expect.arrayContaining(["feature get", "drift list", "export run"]));
});

describe("a command whose caller lacks the permission", () => {
  it.each(commands)("is refused with the name of the permission, and audited: %s", async (command) => {
    const remote = { DRS_ADMIN_URL: listener.url, DRS_ADMIN_TOKEN: await listener.token([roleWithout(command)]) };
    const parameters = FILE_ARGUMENTS[command]?.() ?? argumentsOf(command);
    const { code, stdout, stderr } = await runAsGiven(remote, ...command.split(" "), ...parameters);
    const refusal = expect.stringMatching(
      /^The permission [a-z._]+ needs the role [a-z ]+\. You have: [a-z, ]+\.\n$/,
    ) as string;
    expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: refusal });
    const { rows } = await opened.owner.query(
      "select outcome from audit_entry order by at desc, entry_id desc limit 1",
    );
    expect(rows).toEqual([{ outcome: "denied" }]);
  });
});
