import { resolve } from "node:path";
import { Command } from "commander";
import { OperatorError } from "../base/errors/operator-error.ts";
import { plural } from "../base/messages/plural.ts";
import { attestationCommand } from "./attestation.ts";
import { compareFeaturesCommand } from "./compare-features.ts";
import { type Context, print, printJson, printText } from "./context.ts";
import { printTable, type TableOptions, withTableOptions } from "./table.ts";
import { describeFeatureCommand } from "./describe-feature.ts";
import { explainFeatureCommand } from "./explain-feature.ts";
import { example } from "./options.ts";
import { addStoredFeatures } from "./stored-features.ts";
import { verifyFeaturesCommand } from "./verify-features.ts";

/** Imported when a command runs, so that commands without definitions do not load the bundler and the second engine. */
const loadProject = () => import("@device-risk-signals/features/project");

const FOLDER_DESCRIPTION = "folder of the definitions";

/** Commands on a repository of definitions, which need no database, and commands on the features of an installation. */
export function featureCommand(context: Context): Command {
  const command = new Command("feature").addHelpText(
    "after",
    example("drs feature init my-features", "drs feature test my-features"),
  );

  command
    .command("init")
    .description("Make a repository of definitions: an example, its fixtures, a lock file.")
    .argument("<dir>", "a new or empty folder")
    .addHelpText("after", example("drs feature init my-features"))
    .action(async (dir: string) => {
      const { initProject } = await loadProject();
      failFor((await initProject(resolve(context.directory, dir))).problems);
      print(context, `Made ${dir}. Next: drs feature test ${dir}`);
    });

  command
    .command("test")
    .description("Build definitions, compare them with the lock file, run their fixtures.")
    .argument("[dir]", FOLDER_DESCRIPTION, ".")
    .option("--base <file>", "the lock file of the branch to merge into")
    .addHelpText("after", example("drs feature test", "drs feature test --base base.lock.json"))
    .action(async (dir: string, { base }: { base?: string }) => {
      const { checkFeatures } = await loadProject();
      const options = base === undefined ? {} : { base: resolve(context.directory, base) };
      const { features, cases, problems } = await checkFeatures(resolve(context.directory, dir), options);
      failFor(problems);
      print(context, `${plural(features, "feature")}, ${plural(cases, "case")} on each of two engines: no problem.`);
    });

  command
    .command("lock")
    .description("Write new versions into the lock file, and the types of the overlay.")
    .argument("[dir]", FOLDER_DESCRIPTION, ".")
    .addHelpText("after", example("drs feature lock"))
    .action(async (dir: string) => {
      const { lockFeatures } = await loadProject();
      const { features, problems } = await lockFeatures(resolve(context.directory, dir));
      failFor(problems);
      print(context, `${plural(features, "feature")} in the lock file.`);
    });

  withTableOptions(command.command("list"))
    .description("List the definitions of a folder.")
    .argument("[dir]", FOLDER_DESCRIPTION, ".")
    .addHelpText("after", example("drs feature list"))
    .action(async (dir: string, options: TableOptions) => {
      const features = await buildProject(context, dir);
      const rows = features.map(({ bundle: { id, version, hash, manifest }, file }) => ({
        feature: `${id}@${version}`,
        output: manifest.output.type,
        inputs: manifest.inputs.length,
        owner: manifest.owner,
        hash: hash.slice(0, 12),
        file,
      }));
      const columns = ["feature", "output", "inputs", "owner", "hash"];
      printTable(context, rows, { empty: "No features.", columns }, options);
    });

  command
    .command("show")
    .description("Show a definition: meaning, false readings, inputs, output and program.")
    .argument("<feature>", "id, or id@version")
    .argument("[dir]", FOLDER_DESCRIPTION, ".")
    .option("--json", "print one JSON object")
    .addHelpText("after", example("drs feature show root_traces@1 my-features"))
    .action(async (name: string, dir: string, { json = false }: { json?: boolean }) => {
      const features = await buildProject(context, dir);
      const found = features.findLast(({ bundle: { id, version } }) => name === id || name === `${id}@${version}`);
      if (!found) throw new OperatorError("not-found", `No feature ${name} in ${dir}. See \`drs feature list\`.`);
      const { manifest, text } = found.bundle;
      if (json) printJson(context, { ...manifest, text });
      else printText(context, describe(manifest, text));
    });
  addStoredFeatures(command, context);
  command.addCommand(explainFeatureCommand(context));
  command.addCommand(verifyFeaturesCommand(context));
  command.addCommand(attestationCommand(context));
  command.addCommand(compareFeaturesCommand(context));
  command.addCommand(describeFeatureCommand(context));
  return command;
}

type Features = Awaited<ReturnType<Awaited<ReturnType<typeof loadProject>>["buildFolder"]>>["features"];
type Manifest = Features[number]["bundle"]["manifest"];

async function buildProject(context: Context, dir: string): Promise<Features> {
  const { buildFolder } = await loadProject();
  const { features, problems } = await buildFolder(resolve(context.directory, dir));
  failFor(problems);
  return features;
}

function failFor(problems: readonly string[]): void {
  if (problems.length === 0) return;
  throw new OperatorError("input-invalid", [`${plural(problems.length, "problem")}:`, ...problems].join("\n  "));
}

function describe(
  { id, version, hash, owner, meaning, falseReadings, purposes, inputs, output }: Manifest,
  text: string,
): string {
  const fields = inputs.map(
    ({ name, path, type, unit, sensitivity }) =>
      `  ${name}: ${path.join(".")} (${[type, unit, sensitivity].filter(Boolean).join(", ")})`,
  );
  return [
    `${id}@${version}  ${hash}`,
    `Meaning: ${meaning}`,
    ...falseReadings.map((reading) => `False reading: ${reading}`),
    `Owner: ${owner}`,
    `Purposes: ${purposes.join(", ")}`,
    `Output: ${output.type}${"values" in output ? ` (${output.values.join(", ")})` : ""}`,
    "Inputs:",
    ...fields,
    "Program:",
    text,
  ].join("\n");
}
