import { PATHS, settingOf } from "../../packages/server/src/config/settings.ts";

export function configurationPage(): string {
  const rows = PATHS.map(settingOf).map(({ variable, fallback, secret, meaning }) => {
    const shown = secret ? "(secret)" : fallback === undefined ? "" : `\`${fallback}\``;
    return `| \`${variable}\` | ${shown} | ${meaning} |`;
  });
  return `<!-- Generated from the declared settings by \`npm run generate\`. Do not edit. -->

# Configuration

Only environment variables configure the server, which reads them once at start. An unknown \`DRS_\` variable, an invalid value, or two
values that exclude each other stop the start with exit code 1 and a message that names all of them. \`npx drs config\` prints the effective
values with masked secrets; with \`--json\` it prints durations in milliseconds. Durations have the form \`500ms\`, \`30s\`, \`5m\`, \`24h\`, \`7d\`.

| variable | default | meaning |
| --- | --- | --- |
${rows.join("\n")}
`;
}
