/**
 * The command `device-risk-signals`, for developers of an app with the SDK, and for developers of a backend who have no
 * phone.
 */
import { parseArgs } from "node:util";
import { SCENARIOS, type Scenario, sampleEvent } from "../jest/mock.ts";
import { examine } from "./doctor.ts";

const HELP_TEXT = `Usage: device-risk-signals <command>

  doctor [--probes a,b]      check the manifests of the app in this folder: missing and needless entries
  sample --scenario S        a raw event on standard output
         --list              the scenarios
         --platform P        android or ios, for scenarios of either
         --seed N            varies the values

Example: npx device-risk-signals sample --scenario rooted-android
`;

type Write = (text: string) => void;

/** @returns the exit code: 0 for success, 1 if `doctor` reports a problem, 2 for wrong usage. */
export async function main(args: readonly string[], folder: string, out: Write, err: Write): Promise<number> {
  const [command, ...rest] = args.includes("--help") ? ["help"] : args;
  try {
    switch (command) {
      case "doctor":
        return runDoctor(rest, folder, out);
      case "sample":
        return await printSample(rest, out);
      case "help":
        out(HELP_TEXT);
        return 0;
      default:
        err(HELP_TEXT);
        return 2;
    }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    err(`${error.message}\n`);
    return 2;
  }
}

function runDoctor(args: string[], folder: string, out: Write): number {
  const { values } = parseArgs({ args, options: { probes: { type: "string" } } });
  const findings = examine(folder, values.probes?.split(","));
  for (const { kind, text } of findings) out(`${kind.padEnd(8)}  ${text}\n`);
  return findings.every(({ kind }) => kind === "ok" || kind === "optional") ? 0 : 1;
}

async function printSample(args: string[], out: Write): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      scenario: { type: "string" },
      list: { type: "boolean" },
      platform: { type: "string" },
      seed: { type: "string" },
    },
  });
  if (values.list) {
    out(`${SCENARIOS.join("\n")}\n`);
    return 0;
  }
  const { scenario, platform, seed } = values;
  if (scenario === undefined) throw new TypeError("sample: --scenario or --list is needed");
  if (platform !== undefined && platform !== "android" && platform !== "ios") {
    throw new TypeError("sample: --platform is android or ios");
  }
  if (seed !== undefined && !/^\d{1,9}$/.test(seed)) throw new TypeError("sample: --seed is a whole number");
  const event = await sampleEvent({
    scenario: scenario as Scenario,
    platform,
    seed: seed === undefined ? undefined : Number(seed),
  });
  out(`${JSON.stringify(event)}\n`);
  return 0;
}
