/**
 * `npm run check:audit-verifier`: a verifier in Go, which shares no code with the server, verifies logs that the
 * server's code wrote, and refuses attacked ones. Needs Go. Ends with one line of counts.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProgramRunner } from "../suite/run.ts";
import { type Counts, Suite } from "../suite/suite.ts";

const suite = new Suite("audit-verifier", (text) => void process.stdout.write(text));
const logs = mkdtempSync(join(tmpdir(), "drs-audit-logs-"));
process.env["AUDIT_LOGS"] = logs;
const runner = new ProgramRunner(import.meta.dirname);

try {
  if (await suite.check("logs and proofs", async () => void (await runner.must("node", "make-logs.ts", logs)))) {
    await suite.check("gofmt", async () => {
      const unformatted = await runner.must("gofmt", "-l", ".");
      if (unformatted !== "") throw new Error(unformatted);
    });
    await suite.check("go vet", async () => void (await runner.must("go", "vet", "./...")));
    await suite.tests("go test", testCounts);
  }
} finally {
  rmSync(logs, { recursive: true, force: true });
}
process.stdout.write(`${suite.line}\n`);
process.exitCode = suite.failed ? 1 : 0;

async function testCounts(): Promise<Counts & { readonly said: string }> {
  const { code, out, all } = await runner.run("go", ["test", "-count=1", "-json", "./..."]);
  const events = out.split("\n").filter((line) => line.startsWith("{"));
  const actions = events
    .map((line) => JSON.parse(line) as { readonly Action: string; readonly Test?: string })
    .filter(({ Test }) => Test !== undefined)
    .map(({ Action }) => Action);
  const count = (action: string): number => actions.filter((one) => one === action).length;
  const failed = count("fail");
  return { passed: count("pass"), failed: code !== 0 && failed === 0 ? 1 : failed, skipped: count("skip"), said: all };
}
