import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field, Platform, Probe } from "../../packages/contract/src/catalog/declare.ts";
import { DECLARED_PACKAGES, DECLARED_SCHEMES } from "../../packages/react-native/src/judgement/declared-artefacts.ts";

const LEVELS = ["low", "medium", "high"] as const;

const fieldsOf = ({ fields }: Probe): readonly Field[] => Object.values(fields);

function highestSensitivity(probe: Probe): string {
  const levels = fieldsOf(probe).map(({ sensitivity }) => LEVELS.indexOf(sensitivity));
  return LEVELS[Math.max(...levels)] ?? "low";
}

function permissionsOf(probe: Probe, platform: Platform): string {
  const named = fieldsOf(probe).flatMap(({ permission }) => permission?.[platform] ?? []);
  return [...new Set(named)].join(", ") || "–";
}

function disclosureRow(probe: Probe): string {
  const { play, apple, note } = probe.disclosure;
  return `| \`${probe.id}\` | ${highestSensitivity(probe)} | ${play} | ${apple} | ${note ?? ""} |`;
}

function needsRow(probe: Probe): string {
  const count = (list: readonly string[] | undefined): string => (list ? String(list.length) : "–");
  const android = `${permissionsOf(probe, "android")} | ${count(DECLARED_PACKAGES[probe.id])}`;
  return `| \`${probe.id}\` | ${android} | ${permissionsOf(probe, "ios")} | ${count(DECLARED_SCHEMES[probe.id])} |`;
}

/** What the integrator answers to the stores, probe by probe. */
export function storePrivacyPage(): string {
  return `<!-- Generated from the catalog by \`npm run generate\`. Do not edit. -->

# Answers for the stores

The SDK keeps nothing on the device, makes no identifier and sends nothing: its own privacy manifest declares no collected data.
What **your app** sends to your endpoint, your app declares. Declare the probes that you enable, and those only.

| probe | highest sensitivity | Google Play, Data safety | Apple, App Privacy | why |
| --- | --- | --- | --- | --- |
${CATALOG.map(disclosureRow).join("\n")}

For all of them: the purpose is _fraud prevention, security and compliance_ (Google) and _app functionality_, which names fraud prevention
(Apple). Not shared with third parties by us, not used for tracking. Linked to the person as soon as you set a client id or collect
for an action of theirs. Encrypted in transit. Whether a person may ask for deletion in your app is up to you; the endpoint erases an
account by \`drs erase run\` ([erasure](privacy/erasure.md)), and events go when the retention of their purpose is over.

## What a probe uses of the app

No permission is ever asked for or declared by the SDK: it uses what the app already holds. Packages stand in \`<queries>\`, schemes in
\`LSApplicationQueriesSchemes\`; the Expo plugin adds exactly those of the probes that you name, and \`npx --no-install device-risk-signals doctor\`
says what is missing in a bare app.

| probe | Android permissions | declared packages | iOS authorisations and entitlements | declared schemes |
| --- | --- | --- | --- | --- |
${CATALOG.map(needsRow).join("\n")}
`;
}
