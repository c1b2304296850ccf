import { OPTION_PATHS, PATHS, settingOf } from "../../packages/server/src/base/config/settings.ts";
import { code, table } from "./table.ts";

export function configurationPage(): string {
  const rows = PATHS.map((path) => {
    const { variable, fallback, secret, meaning } = settingOf(path);
    const shown = secret ? "(secret)" : fallback === undefined ? "" : code(fallback);
    return [code(variable), shown, OPTION_PATHS.includes(path) ? code(path) : "", meaning];
  });
  return `<!-- Generated from the declared settings by \`npm run generate\`. Do not edit. -->

# Configuration

Only environment variables configure the standalone server, which reads them once at start. An unknown \`DRS_\` variable, an invalid value, or two
values that exclude each other stop the start with exit code 1 and a message that names all of them. \`npx drs config\` prints the effective
values with masked secrets; with \`--json\` it prints durations in milliseconds. Durations have the form \`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`7d\` or \`0\`.

A host that embeds the endpoint passes options instead ([embedding](integrator-backend.md#embedding)), such as
\`{ throttle: { ratePerSecond: 20 } }\` for the path \`throttle.ratePerSecond\`. An option whose name ends in \`Ms\` is a number of milliseconds, and
\`keys.encryptionKey\` a \`Uint8Array\`. A variable without an option belongs to the standalone service and its commands.

${table(["variable", "default", "option", "meaning"], rows)}
`;
}
