/**
 * Writes every generated file and section. The sources are the contract, the admin API, the settings, the error codes,
 * the metrics, the grants of the database, the example policy, the list of wings and the measured sizes. With `--check` it writes no file, and if a
 * file is outdated, it prints the name of the file and exits with code 1.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { adminOpenApiDocument } from "@device-risk-signals/admin-api/openapi";
import { openApiDocument, schemaDocuments } from "@device-risk-signals/contract/schema";
import { format } from "oxfmt";
import { adminCalls } from "./admin-calls.ts";
import { withCapacitySection } from "./capacity-section.ts";
import { configurationPage } from "./configuration-page.ts";
import { databaseRolesPage } from "./database-roles-page.ts";
import { dataDictionary } from "./data-dictionary.ts";
import { demoPhones } from "./demo-phones.ts";
import { endpointOptions } from "./endpoint-options.ts";
import { errorsPage } from "./errors-page.ts";
import { eventTypes } from "./event-types.ts";
import { fieldIndex } from "./field-index.ts";
import { withLayoutSection } from "./layout-section.ts";
import { metricsPage, serverMetrics } from "./metrics-page.ts";
import { alertRules, dashboard } from "./monitoring.ts";
import { readPolicy } from "../../packages/server/src/purposes/read-policy.ts";
import { recordOfProcessing } from "../../packages/server/src/purposes/record-of-processing.ts";
import { permissionsPage } from "./permissions-page.ts";
import { storePrivacyPage } from "./store-privacy.ts";

const root = join(import.meta.dirname, "../..");
const contract = "packages/contract";
const adminApi = "packages/admin-api";

async function versionOf(folder: string): Promise<string> {
  return (JSON.parse(await readFile(join(root, folder, "package.json"), "utf8")) as { version: string }).version;
}

/** Writes the record of processing for the example policy of the docs. An installation prints its own record. */
async function recordPage(): Promise<string> {
  const policy = readPolicy(await readFile(join(root, "docs/privacy/purposes.yaml"), "utf8"));
  if (!policy.ok) throw new Error(policy.problems.join("\n"));
  const head = "<!-- Generated from purposes.yaml and the catalog by `npm run generate`. Do not edit. -->";
  return `${head}\n\n${recordOfProcessing(policy.policy)}`;
}

/** JSON whose objects and lists take one line where they fit, so that a person can review a change. */
const json = async (value: unknown): Promise<string> =>
  (await format("generated.json", JSON.stringify(value), { printWidth: 120, objectWrap: "collapse" })).code;

/** Marks what is generated, so that a review folds it. */
const attributesOf = (generated: readonly string[]): string =>
  ["package-lock.json", "*.wasm", "schema.snapshot", "packages/react-native/generated/**", ...generated]
    .map((path) => `${path} linguist-generated\n`)
    .join("");

async function generatedFiles(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  files.set(`${contract}/src/generated/raw-signal-event.ts`, eventTypes());
  files.set(`${contract}/src/generated/field-index.ts`, fieldIndex());
  for (const [name, schema] of Object.entries(schemaDocuments()))
    files.set(`${contract}/schema/${name}`, await json(schema));
  files.set(`${contract}/schema/openapi.json`, await json(openApiDocument(await versionOf(contract))));
  files.set(`${adminApi}/src/generated/calls.ts`, (await format("calls.ts", adminCalls(), { printWidth: 120 })).code);
  files.set(`${adminApi}/schema/openapi.json`, await json(adminOpenApiDocument(await versionOf(adminApi))));
  files.set("docs/data-dictionary.md", dataDictionary());
  files.set("docs/store-privacy.md", storePrivacyPage());
  files.set("docs/privacy/record-of-processing.md", await recordPage());
  files.set("docs/permissions.md", permissionsPage());
  files.set("docs/database-roles.md", databaseRolesPage());
  files.set("docs/errors.md", errorsPage());
  files.set("docs/configuration.md", configurationPage());
  files.set("docs/metrics.md", metricsPage());
  const alerts = await readFile(join(root, "docs/operator/alerts.md"), "utf8");
  files.set("deploy/monitoring/alerts.yaml", alertRules(alerts, serverMetrics()));
  files.set("deploy/monitoring/dashboard.json", await json(dashboard(serverMetrics())));
  files.set("packages/server/src/base/config/options.ts", endpointOptions());
  files.set("packages/server/src/cli/demo/phones.json", await json(await demoPhones()));
  files.set(".gitattributes", attributesOf([...files.keys()]));
  files.set("docs/architecture.md", withLayoutSection(await readFile(join(root, "docs/architecture.md"), "utf8")));
  files.set("docs/scaling.md", withCapacitySection(await readFile(join(root, "docs/scaling.md"), "utf8")));
  return files;
}

async function main(check: boolean): Promise<number> {
  let stale = 0;
  for (const [path, wanted] of await generatedFiles()) {
    const found = await readFile(join(root, path), "utf8").catch(() => undefined);
    if (found === wanted) continue;
    stale++;
    process.stdout.write(`${check ? "stale" : "wrote"} ${path}\n`);
    if (check) continue;
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), wanted);
  }
  if (check && stale > 0) process.stdout.write("Run `npm run generate` and commit what it writes.\n");
  return check && stale > 0 ? 1 : 0;
}

process.exitCode = await main(process.argv.includes("--check"));
