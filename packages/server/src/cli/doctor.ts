import { Command } from "commander";
import type { Answer } from "@device-risk-signals/admin-api";
import { OperatorError } from "../errors/operator-error.ts";
import { call } from "./call.ts";
import { type Context, print, printJson } from "./context.ts";
import { example } from "./options.ts";

export function doctorCommand(context: Context): Command {
  return new Command("doctor")
    .description("Check everything that the server needs, and what is overdue, and say what to do.")
    .option("--json", "print one JSON object per line")
    .addHelpText("after", example("drs doctor"))
    .action(async (options: { json?: boolean }) => {
      const { findings } = await call(context, "readHealth", {});
      for (const finding of findings) {
        if (options.json) printJson(context, finding);
        else print(context, `${labelOf(finding)}  ${finding.what}: ${finding.detail}`);
      }
      const failed = findings.filter(({ ok }) => !ok).length;
      if (failed > 0) throw new OperatorError("checks-failed", `${failed} of ${findings.length} checks failed.`);
    });
}

const LABELS = { advice: "note", warning: "WARN" } as const;

type Finding = Answer<"readHealth">["findings"][number];

function labelOf({ ok, severity }: Finding): string {
  if (!ok) return "FAIL";
  return severity === undefined ? "ok  " : LABELS[severity];
}
