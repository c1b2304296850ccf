import { Command } from "commander";
import type { Finding } from "../operations/doctor.ts";
import { OperatorError } from "../base/errors/operator-error.ts";
import { call } from "./call.ts";
import { type Context, loadConfig, printJson } from "./context.ts";
import { findLogin } from "./login.ts";
import { example } from "./options.ts";
import { printStyled } from "./table.ts";

export function doctorCommand(context: Context): Command {
  return new Command("doctor")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs doctor"))
    .action(async (options: { json?: boolean }) => {
      const { findings, cause } = await examineHealth(context);
      for (const finding of findings) {
        if (options.json) printJson(context, finding);
        else printFinding(context, finding);
      }
      if (cause) throw cause;
      const failed = findings.filter(({ ok }) => !ok).length;
      if (failed > 0) throw new OperatorError("checks-failed", `${failed} of ${findings.length} checks failed.`);
    });
}

const LABELS = { advice: "note", warning: "WARN" } as const;

interface Health {
  readonly findings: readonly Finding[];
  /** Why the installation on this host can't be opened. */
  readonly cause?: OperatorError;
}

async function examineHealth(context: Context): Promise<Health> {
  if (findLogin(context)) return call(context, "readHealth", {});
  const config = loadConfig(context);
  return call(context, "readHealth", {}).catch(async (error: unknown) => {
    const [{ asOperatorError }, { examineUnopened }] = await Promise.all([
      import("./as-operator-error.ts"),
      import("../operations/doctor.ts"),
    ]);
    const cause = asOperatorError(error);
    return { findings: await examineUnopened(config, cause), cause };
  });
}

function printFinding(context: Context, finding: Finding): void {
  const label = labelOf(finding);
  const colour = label === "FAIL" ? "red" : label === "WARN" ? "yellow" : undefined;
  const took = finding.took_ms === undefined ? "" : ` (${finding.took_ms} ms)`;
  printStyled(context, colour, label, `  ${finding.what}: ${finding.detail}${took}`);
}

function labelOf({ ok, severity, skipped }: Finding): string {
  if (skipped) return "skip";
  if (!ok) return "FAIL";
  return severity === undefined ? "ok  " : LABELS[severity];
}
