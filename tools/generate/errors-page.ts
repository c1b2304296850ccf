import { VIOLATIONS, PROBLEMS } from "@device-risk-signals/contract";
import { OPERATOR_ERRORS } from "../../packages/server/src/base/errors/codes.ts";
import { code, table } from "./table.ts";

export function errorsPage(): string {
  const problems = Object.entries(PROBLEMS).map(([name, { status, title, when }]) => {
    return [code(name), String(status), title, when];
  });
  const violations = Object.entries(VIOLATIONS).map(([name, meaning]) => [code(name), meaning]);
  const operators = Object.entries(OPERATOR_ERRORS).map(([name, { exitCode, retryable, when }]) => {
    return [code(name), String(exitCode), retryable ? "yes" : "no", when];
  });
  return `<!-- Generated from the two error registries by \`npm run generate\`. Do not edit. -->

# Errors

[Problems](#problems) and [violations](#violations) are for clients of the endpoint;
[errors of the server and its commands](#errors-of-the-server-and-its-commands) are for its operators.

Every answer about an error is a problem document (RFC 9457, \`application/problem+json\`) with \`type\`, \`title\`, \`status\`, \`detail\` (always a
string) and \`errors\`, a list of \`{pointer, code, detail}\` with a JSON Pointer (RFC 6901) into the request body. An answer never
repeats values that the client sent; it may repeat names of members.

## Problems

\`type\` is \`urn:problem:device-risk-signals:<code>\`.

${table(["code", "status", "title", "when"], problems)}

## Violations

An entry of \`errors\` has one of these codes. Where a problem has a single place, the entry has the problem's own code.

${table(["code", "meaning"], violations)}

## Errors of the server and its commands

A line of the log at level 50 has one of these codes as \`code\`; an error that \`createEndpoint\` throws or reports has it as
\`code\`, too. A command ends with exit code 0 when it is done, and otherwise with the exit code of its error: 1 failed, 2
wrong usage, 3 done in part or with a difference, 4 not ready, 5 waiting for an approval, 6 the audit log is broken. "Retry" says
whether the same call may succeed later although no operator changes anything.

${table(["code", "exit code", "retry", "when, and what to do"], operators)}
`;
}
