import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field, Platform, Probe } from "../../packages/contract/src/catalog/declare.ts";
import { DECLARED_PACKAGES, DECLARED_SCHEMES } from "../../packages/react-native/src/judgement/declared-artefacts.ts";
import { code, table } from "./table.ts";

const SENSITIVITY_LEVELS = ["low", "medium", "high"] as const;

const fieldsOf = ({ fields }: Probe): readonly Field[] => Object.values(fields);

function highestSensitivity(probe: Probe): string {
  const levels = fieldsOf(probe).map(({ sensitivity }) => SENSITIVITY_LEVELS.indexOf(sensitivity));
  return SENSITIVITY_LEVELS[Math.max(...levels)] ?? "low";
}

function permissionsOf(probe: Probe, platform: Platform): string {
  const named = fieldsOf(probe).flatMap(({ permission }) => permission?.[platform] ?? []);
  return [...new Set(named)].join(", ") || "–";
}

const DISCLOSURE_COLUMNS = ["probe", "highest sensitivity", "Google Play, Data safety", "Apple, App Privacy", "why"];

function disclosureRow(probe: Probe): string[] {
  const { play, apple, note } = probe.disclosure;
  return [code(probe.id), highestSensitivity(probe), play, apple, note ?? ""];
}

const NEEDS_COLUMNS = [
  "probe",
  "Android permissions",
  "declared packages",
  "iOS authorisations and entitlements",
  "declared schemes",
];

function needsRow(probe: Probe): string[] {
  const count = (list: readonly string[] | undefined): string => (list ? String(list.length) : "–");
  const [packages = "", schemes = ""] = [DECLARED_PACKAGES, DECLARED_SCHEMES].map((declared) =>
    count(declared[probe.id]),
  );
  return [code(probe.id), permissionsOf(probe, "android"), packages, permissionsOf(probe, "ios"), schemes];
}

/** Lists, for each probe, the answers of the integrator to the questions of the app stores. */
export function storePrivacyPage(): string {
  return `<!-- Generated from the catalog by \`npm run generate\`. Do not edit. -->

# Answers for the stores

The SDK stores nothing on the device, creates no identifier and sends nothing: its own privacy manifest declares no collected data.
**Your app** declares what it sends to your endpoint. Declare only the probes that you enable.

${table(DISCLOSURE_COLUMNS, CATALOG.map(disclosureRow))}

For all probes:

- The purpose is _fraud prevention, security and compliance_ (Google) and _app functionality_ (Apple's definition includes fraud prevention).
- The data is not shared with third parties by this software, and not used for tracking.
- The data is linked to the person as soon as you set a client id or collect for an action of the person.
- The data is encrypted in transit if your app sends it to an \`https\` URL. The host client also accepts \`http\`.
- You decide whether a person may request deletion in your app. The endpoint erases an account by \`drs erase run\`
  ([erasure](privacy/erasure.md)), and deletes events after the retention period of their purpose.

## What a probe needs from the app

The SDK declares and requests no permission: it uses the permissions of the app. \`<queries>\` declares packages, and
\`LSApplicationQueriesSchemes\` declares schemes. The Expo plugin adds exactly those of the probes that you name. In a bare app
\`npx --no-install device-risk-signals doctor\` says what is missing.

${table(NEEDS_COLUMNS, CATALOG.map(needsRow))}
`;
}
