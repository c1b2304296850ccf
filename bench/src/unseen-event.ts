/**
 * A second generator of synthetic raw events of about 14 KB with every field of the catalog. The compression dictionary
 * was made without its events. It shares only the catalog and the class `Random` with `full-event.ts`, and differs from
 * it:
 *
 * - the probes, and the members of each object, are in another order in each event;
 * - devices, languages, countries, networks, apps, packages and paths are different, with letters beyond ASCII;
 * - fields with a closed vocabulary have words of the event's platform, all with the same probability;
 * - lists have up to twelve items, lists of digests up to two;
 * - numbers that `full-event.ts` rounds to some digits are not rounded or are integers, and have other magnitudes;
 * - each boolean is true with a probability of one third.
 */
import type { RawSignalEvent } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field, Platform } from "../../packages/contract/src/catalog/declare.ts";
import {
  ADDRESS,
  COUNTRY,
  COUNTRY_CODE,
  CURRENCY,
  FACT,
  type Form,
  IDENTIFIER,
  LANGUAGE,
  LANGUAGE_TAG,
  NETWORK_CODE,
  PATH,
  REGION,
  SCHEME,
  SHA256,
  TIME_ZONE,
  VARIABLE,
  VERSION,
} from "../../packages/contract/src/catalog/forms.ts";
import { Random } from "./full-event.ts";

/** The random numbers, platform and device of one event, from which all of its values are made. */
interface Subject {
  readonly random: Random;
  readonly platform: Platform;
  readonly device: Device;
}

interface Device {
  readonly maker: string;
  readonly model: string;
  readonly code: string;
  readonly chip: string;
  readonly renderer: string;
}

const ANDROID: readonly Device[] = [
  { maker: "Fairphone", model: "FP5", code: "FP5", chip: "QCM6490", renderer: "Adreno 643" },
  { maker: "Nothing", model: "A065", code: "Pong", chip: "SM8475", renderer: "Adreno (TM) 730" },
  { maker: "realme", model: "RMX3993", code: "RED8C1L1", chip: "MT6835T", renderer: "Mali-G57 MC2" },
  { maker: "HUAWEI", model: "NOH-NX9", code: "HWNOH", chip: "kirin9000", renderer: "Mali-G78" },
  { maker: "HMD Global", model: "Nokia X30 5G", code: "N4DN_sprout", chip: "SM6375", renderer: "Adreno (TM) 619" },
  { maker: "asus", model: "ASUS_AI2401_A", code: "ASUS_AI2401", chip: "SM8650", renderer: "Adreno (TM) 750" },
  { maker: "TECNO", model: "TECNO KL8", code: "TECNO-KL8", chip: "MT6878", renderer: "Mali-G615 MC2" },
  { maker: "INFINIX", model: "Infinix X6871", code: "Infinix-X6871", chip: "MT6897", renderer: "Mali-G615 MC6" },
  { maker: "TCL", model: "T702A", code: "Swell", chip: "MT6833V/ZA", renderer: "Mali-G57 MC2" },
  { maker: "SHARP", model: "SH-52E", code: "Quess", chip: "SM7550", renderer: "Adreno (TM) 720" },
];

const IOS: readonly Device[] = [
  { maker: "Apple", model: "iPhone14,5", code: "D17AP", chip: "A15", renderer: "Apple A15 GPU" },
  { maker: "Apple", model: "iPhone15,3", code: "D74AP", chip: "A16", renderer: "Apple A16 GPU" },
  { maker: "Apple", model: "iPhone17,1", code: "D93AP", chip: "A18", renderer: "Apple A18 Pro GPU" },
  { maker: "Apple", model: "iPad14,8", code: "J537AP", chip: "M2", renderer: "Apple M2 GPU" },
];

/** Places, each with language, country, time zone, currency and carrier. */
const PLACES = [
  ["ko", "KR", "Asia/Seoul", "KRW", "SKTelecom"],
  ["sv", "SE", "Europe/Stockholm", "SEK", "Tele2"],
  ["fi", "FI", "Europe/Helsinki", "EUR", "Elisa"],
  ["el", "GR", "Europe/Athens", "EUR", "COSMOTE"],
  ["vi", "VN", "Asia/Ho_Chi_Minh", "VND", "Viettel"],
  ["ar", "EG", "Africa/Cairo", "EGP", "Etisalat Egypt"],
  ["uk", "UA", "Europe/Kyiv", "UAH", "Kyivstar"],
  ["cs", "CZ", "Europe/Prague", "CZK", "Vodafone CZ"],
  ["th", "TH", "Asia/Bangkok", "THB", "AIS"],
  ["es", "CO", "America/Bogota", "COP", "Móvil Éxito"],
  ["sw", "KE", "Africa/Nairobi", "KES", "Safaricom"],
  ["zh", "TW", "Asia/Taipei", "TWD", "Chunghwa Telecom"],
] as const;

const PACKAGES = ["org.telegram", "io.contoso.wallet", "net.vyte", "ru.mail", "app.organicmaps", "dev.patrickgold"];
const PARTS = ["helper", "sync", "Agent", "ui", "provider", "launcher", "svc", "Bridge", "overlay", "remote", "beta"];
const FOLDERS = ["/vendor/lib64", "/cache/recovery", "/mnt/asec", "/odm/etc", "/private/var/db", "/opt/t2", "/product"];
const PERMISSIONS = [
  "READ_PHONE_NUMBERS",
  "SYSTEM_ALERT_WINDOW",
  "READ_MEDIA_IMAGES",
  "HIGH_SAMPLING_RATE_SENSORS",
  "SCHEDULE_EXACT_ALARM",
  "BLUETOOTH_SCAN",
  "QUERY_ALL_PACKAGES",
  "NEARBY_WIFI_DEVICES",
  "INTERNET",
  "ACTIVITY_RECOGNITION",
  "USE_FULL_SCREEN_INTENT",
  "MODIFY_AUDIO_SETTINGS",
];
const SYLLABLES = ["ka", "lo", "mi", "ren", "tu", "va", "zo", "pé", "shi", "qua", "nör", "bal", "dex", "fu"];

type Maker = (subject: Subject) => string;

function makeWord({ random }: Subject): string {
  return Array.from({ length: 2 + random.below(3) }, () => random.pick(SYLLABLES)).join("");
}

const packageName: Maker = ({ random }) => `${random.pick(PACKAGES)}.${random.pick(PARTS)}${random.below(90)}`;
const path: Maker = (subject) => `${subject.random.pick(FOLDERS)}/${makeWord(subject)}.${subject.random.pick(PARTS)}`;
const version: Maker = ({ random }) => `${2 + random.below(24)}.${random.below(12)}.${random.below(900)}`;
const country: Maker = ({ random }) => random.pick(PLACES)[1];

const MAKERS_BY_FORM: ReadonlyMap<Form, Maker> = new Map<Form, Maker>([
  [SHA256, ({ random }) => random.hex(64)],
  [IDENTIFIER, packageName],
  [SCHEME, ({ random }) => `${random.pick(["filza", "sileo", "undecimus", "postbox"])}${random.below(9)}`],
  [PATH, path],
  [FACT, ({ random }) => `persist.${random.pick(PARTS)}.${random.hex(4)}=${random.below(2)}`],
  [VARIABLE, ({ random }) => `_${random.pick(PARTS).toUpperCase()}_${random.hex(3).toUpperCase()}`],
  [VERSION, version],
  [
    ADDRESS,
    ({ random }) =>
      random.chance(0.4)
        ? `10.${random.below(256)}.${random.below(256)}.${random.below(256)}`
        : `2a02:${random.hex(4)}:${random.hex(4)}:${random.hex(3)}::${random.hex(2)}`,
  ],
  [LANGUAGE, ({ random }) => random.pick(PLACES)[0]],
  [
    LANGUAGE_TAG,
    ({ random }) => {
      const [language, region] = random.pick(PLACES);
      return `${language}-${region}`;
    },
  ],
  [REGION, country],
  [COUNTRY, (subject) => country(subject).toLowerCase()],
  [TIME_ZONE, ({ random }) => random.pick(PLACES)[2]],
  [CURRENCY, ({ random }) => random.pick(PLACES)[3]],
  [COUNTRY_CODE, ({ random }) => String(200 + random.below(550))],
  [NETWORK_CODE, ({ random }) => String(random.below(90)).padStart(2, "0")],
]);

/** Makers for text fields that have no vocabulary and need more than a random word. */
const MAKERS_BY_FIELD: Readonly<Record<string, Maker>> = {
  manufacturer: ({ device }) => device.maker,
  brand: ({ device }) => device.maker.toLowerCase(),
  model: ({ device }) => device.model,
  systemName: ({ platform }) => (platform === "ios" ? "iOS" : "Android"),
  systemVersion: version,
  osBuild: ({ random }) => `${17 + random.below(9)}${random.pick(["A", "E", "G"])}${random.below(900)}`,
  kernelVersion: (subject) =>
    `Darwin Kernel Version ${version(subject)}: root:xnu-${subject.random.below(12_000)}~${subject.random.below(9)}/RELEASE_ARM64_T${subject.random.below(9_000)}`,
  kernelOsRelease: (subject) => `${version(subject)}-qgki-${subject.random.hex(10)}`,
  board: ({ device }) => device.chip,
  device: ({ device }) => device.code,
  product: ({ device }) => `${device.code}_eea`,
  hardware: ({ device }) => device.chip.toLowerCase(),
  fingerprint: (subject) =>
    `${subject.device.maker}/${subject.device.code}_eea/${subject.device.code}:14/UKQ1.${subject.random.below(300_000)}.001/V${version(subject)}:user/release-keys`,
  supportedAbis: ({ random }) => random.pick(["arm64-v8a", "x86_64", "armeabi-v7a", "riscv64"]),
  securityPatch: ({ random }) => `2025-0${1 + random.below(9)}-${10 + random.below(18)}`,
  rendererName: ({ device }) => device.renderer,
  networkOperatorName: ({ random }) => random.pick(PLACES)[4],
  simOperatorName: ({ random }) => random.pick(PLACES)[4],
  interfaceNames: ({ random }) => random.pick(["en0", "pdp_ip0", "utun3", "awdl0", "ccmni1", "tun0", "ap0", "ipsec2"]),
  grantedPermissions: ({ random }) => `android.permission.${random.pick(PERMISSIONS)}`,
  wifiBssid: ({ random }) => (random.hex(12).match(/../g) ?? []).join(":"),
  imei: ({ random }) => String(3e14 + random.below(1e9)),
};

function makeText(name: string, field: Field, subject: Subject): string {
  const { random, platform } = subject;
  const words = field.values?.[platform] ?? Object.values(field.values ?? {})[0];
  if (words) return random.pick(words);
  const make = MAKERS_BY_FIELD[name] ?? (field.form && MAKERS_BY_FORM.get(field.form));
  return make?.(subject) ?? (random.chance(0.5) ? makeWord(subject) : `${makeWord(subject)} ${version(subject)}`);
}

const INTEGER_UNITS = new Set<Field["unit"]>(["count", "index", "port", "px", "dpi", "API level", "mV", "kbps", "Hz"]);

function makeNumber({ unit }: Field, random: Random): number {
  if (unit === "epoch ms") return 1_600_000_000_000 + random.below(2 ** 31) * 50;
  if (unit === "bytes") return random.below(2 ** 30) * random.pick([1, 16, 512, 65_536]);
  if (unit !== undefined && INTEGER_UNITS.has(unit)) return random.below(10 ** (1 + random.below(4)));
  return random.chance(0.3) ? random.below(100_000) : random.next() * 10 ** random.below(4);
}

function makeList<Item>(random: Random, maximum: number, make: () => Item): Item[] {
  return random.chance(0.3) ? [] : Array.from({ length: 1 + random.below(maximum) }, make);
}

function valueOf(name: string, field: Field, subject: Subject): unknown {
  const { random } = subject;
  switch (field.type) {
    case "boolean":
      return random.chance(1 / 3);
    case "number":
      return makeNumber(field, random);
    case "string":
      return makeText(name, field, subject);
    case "string[]":
      return makeList(random, field.form === SHA256 ? 2 : 12, () => makeText(name, field, subject));
    case "number[]":
      return makeList(random, 12, () => makeNumber(field, random));
    case "object":
      return membersOf(field.fields ?? {}, subject);
  }
}

const membersOf = (fields: Readonly<Record<string, Field>>, subject: Subject): object =>
  Object.fromEntries(
    shuffled(Object.entries(fields), subject.random).map(([name, field]) => [name, valueOf(name, field, subject)]),
  );

function shuffled<Item>(items: readonly Item[], random: Random): Item[] {
  const withPlaces = items.map((item) => ({ item, place: random.next() }));
  return withPlaces.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}

/** A raw event with every field of the catalog. The same seed gives the same event, except for `collectedAt`. */
export function unseenEvent(seed: number, collectedAt: Date): RawSignalEvent {
  const random = new Random(seed);
  const platform = random.pick<Platform>(["android", "ios"]);
  const subject = { random, platform, device: random.pick(platform === "ios" ? IOS : ANDROID) };
  const probes: Record<string, unknown> = Object.fromEntries(
    shuffled(CATALOG, random).map(({ id, fields }) => [id, { data: membersOf(fields, subject), status: "success" }]),
  );
  return {
    probes,
    collected_at: `${collectedAt.toISOString().slice(0, -1)}${random.below(1_000)}+0${random.below(10)}:00`,
    schema_version: 1,
    session_id: random.hex(32),
    event_type: "device_intel_collection",
    client_id: random.hex(16),
  };
}
