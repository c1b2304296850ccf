import { VIOLATIONS, PROBLEMS } from "@device-risk-signals/contract";

export function errorsPage(): string {
  const problems = Object.entries(PROBLEMS).map(
    ([code, { status, title, when }]) => `| \`${code}\` | ${status} | ${title} | ${when} |`,
  );
  const errors = Object.entries(VIOLATIONS).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`);
  return `<!-- Generated from the error registry by \`npm run generate\`. Do not edit. -->

# Errors

Every error is a problem document (RFC 9457, \`application/problem+json\`) with \`type\`, \`title\`, \`status\`, \`detail\` (always a
string) and \`errors\`, a list of \`{pointer, code, detail}\` with a JSON Pointer (RFC 6901) into the request body. An answer never
repeats values that the client sent; it may repeat names of members.

## Problems

\`type\` is \`urn:problem:device-risk-signals:<code>\`.

| code | status | title | when |
| --- | --- | --- | --- |
${problems.join("\n")}

## Violations

An entry of \`errors\` has one of these codes. Where a problem has a single place, the entry has the problem's own code.

| code | meaning |
| --- | --- |
${errors.join("\n")}
`;
}
