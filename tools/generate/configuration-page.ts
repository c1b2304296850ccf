import { type Variable, VARIABLES } from "../../packages/server/src/config/variables.ts";

export function configurationPage(): string {
  const rows = Object.entries(VARIABLES).map(([name, variable]: [string, Variable<unknown>]) => {
    const fallback = variable.secret ? "(secret)" : variable.fallback === undefined ? "" : `\`${variable.fallback}\``;
    return `| \`${name}\` | ${fallback} | ${variable.meaning} |`;
  });
  return `<!-- Generated from the declared variables by \`npm run generate\`. Do not edit. -->

# Configuration

Only environment variables configure the server, which reads them once at start. An unknown \`DRS_\` variable, an invalid value, or two
values that exclude each other stop the start with exit code 1 and a message that names all of them. \`npx drs config\` prints the effective
values with masked secrets; with \`--json\` it prints durations in milliseconds. Durations have the form \`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`7d\`.

| variable | default | meaning |
| --- | --- | --- |
${rows.join("\n")}
`;
}
