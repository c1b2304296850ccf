import { type Variable, VARIABLES } from "../../packages/server/src/config/variables.ts";

export function configurationPage(): string {
  const rows = Object.entries(VARIABLES).map(([name, variable]: [string, Variable<unknown>]) => {
    const fallback = variable.secret ? "(secret)" : variable.fallback === undefined ? "" : `\`${variable.fallback}\``;
    return `| \`${name}\` | ${fallback} | ${variable.meaning} |`;
  });
  return `<!-- Generated from the declared variables by \`npm run generate\`. Do not edit. -->

# Configuration

By environment variables alone, read once at start. An unknown \`DRS_\` variable, a value that can't be read or two that exclude each
other stop the start with exit code 1 and a message that names every one of them. \`npx drs config\` prints the effective values,
secrets masked, and with \`--json\` durations in milliseconds. Durations are written \`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`7d\`.

| variable | default | meaning |
| --- | --- | --- |
${rows.join("\n")}
`;
}
