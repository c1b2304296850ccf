import { Command, InvalidArgumentError } from "commander";
import { SERVED_SURFACES, type ServedSurface } from "../runtime/served-surfaces.ts";
import type { Context } from "./context.ts";
import { example } from "./options.ts";

export function serveCommand(context: Context): Command {
  return new Command("serve")
    .option("--only <surfaces...>", "serve only these: ingest, admin, worker", surfaceList)
    .option("--no-migrate", "do not migrate; if the schema is outdated, end with exit code 4")
    .option("--fresh", "delete the embedded database, its keys and its journal first")
    .option("--yes", "do not ask before --fresh deletes")
    .addHelpText("after", example("drs serve", "DRS_PORT=9000 drs serve", "drs serve --only ingest"))
    .action(async (options: ServeOptions) => {
      // Imported when the command runs, so that its help comes sooner.
      const { serve } = await import("./run-server.ts");
      await serve(context, options);
    });
}

export interface ServeOptions {
  readonly fresh?: boolean;
  readonly yes?: boolean;
  readonly migrate: boolean;
  readonly only?: readonly ServedSurface[];
}

/** Reads surfaces, separated by commas, in addition to those of earlier values of the option. */
function surfaceList(text: string, earlier: readonly ServedSurface[] = []): readonly ServedSurface[] {
  const named = text.split(",").map((name) => {
    const found = SERVED_SURFACES.find((surface) => surface === name);
    if (found) return found;
    throw new InvalidArgumentError(`It must be one or more of ${SERVED_SURFACES.join(", ")}.`);
  });
  const all = new Set([...earlier, ...named]);
  return SERVED_SURFACES.filter((surface) => all.has(surface));
}
