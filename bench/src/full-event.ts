/**
 * Synthetic raw events of about 14 KB with every field of the catalog. No two events are equal. The values resemble
 * those of real phones: some are equal on all phones of a model, some differ between phones, and some change with every
 * collection.
 */
import type { RawSignalEvent } from "@device-risk-signals/contract";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import type { Field } from "../../packages/contract/src/catalog/declare.ts";

/** A small deterministic generator (mulberry32). The same seed gives the same event on every machine. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** @returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)] as T;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.below(0x1000000).toString(16).padStart(6, "0");
    return text.slice(0, digits);
  }

  uuid(): string {
    return `${this.hex(8)}-${this.hex(4)}-4${this.hex(3)}-a${this.hex(3)}-${this.hex(12)}`;
  }
}

interface Model {
  readonly maker: string;
  readonly brand: string;
  readonly model: string;
  readonly code: string;
  readonly soc: string;
}

const MODELS: readonly Model[] = [
  { maker: "samsung", brand: "samsung", model: "SM-S921B", code: "e1s", soc: "s5e9945" },
  { maker: "samsung", brand: "samsung", model: "SM-A546E", code: "a54x", soc: "s5e8835" },
  { maker: "Google", brand: "google", model: "Pixel 8", code: "shiba", soc: "Tensor G3" },
  { maker: "Google", brand: "google", model: "Pixel 9 Pro", code: "caiman", soc: "Tensor G4" },
  { maker: "Xiaomi", brand: "Redmi", model: "23117RA68G", code: "emerald", soc: "MT6789V/CD" },
  { maker: "Xiaomi", brand: "POCO", model: "24069PC21G", code: "peridot", soc: "SM8635" },
  { maker: "OnePlus", brand: "OnePlus", model: "CPH2581", code: "OP5929L1", soc: "SM8650" },
  { maker: "motorola", brand: "motorola", model: "moto g84 5G", code: "bangkk", soc: "SM6375" },
  { maker: "OPPO", brand: "OPPO", model: "CPH2557", code: "OP5759L1", soc: "MT6877V/TTZA" },
  { maker: "vivo", brand: "vivo", model: "V2318", code: "V2318", soc: "SM7435" },
  { maker: "HONOR", brand: "HONOR", model: "ALI-NX1", code: "HNALI", soc: "SM6450" },
  { maker: "Sony", brand: "Sony", model: "XQ-EC54", code: "pdx245", soc: "SM8650" },
];

const LANGUAGES = ["en", "de", "fr", "es", "pt", "it", "nl", "pl", "tr", "id", "hi", "ja"];
const COUNTRIES = ["US", "DE", "FR", "ES", "BR", "IT", "NL", "PL", "TR", "ID", "IN", "JP", "GB", "MX"];
const ZONES = [
  "Europe/Berlin",
  "Europe/Paris",
  "America/New_York",
  "America/Sao_Paulo",
  "Asia/Jakarta",
  "Asia/Kolkata",
];
const CARRIERS = [
  "Vodafone",
  "Telekom.de",
  "Orange F",
  "T-Mobile",
  "TIM",
  "Movistar",
  "Telkomsel",
  "Jio",
  "O2",
  "Play",
];
const PERMISSIONS = [
  "android.permission.INTERNET",
  "android.permission.ACCESS_NETWORK_STATE",
  "android.permission.CAMERA",
  "android.permission.POST_NOTIFICATIONS",
  "android.permission.USE_BIOMETRIC",
  "android.permission.VIBRATE",
  "android.permission.ACCESS_WIFI_STATE",
  "android.permission.ACCESS_COARSE_LOCATION",
  "android.permission.WAKE_LOCK",
  "android.permission.RECEIVE_BOOT_COMPLETED",
  "android.permission.FOREGROUND_SERVICE",
  "android.permission.NFC",
  "android.permission.BLUETOOTH_CONNECT",
  "android.permission.READ_CONTACTS",
  "android.permission.ACCESS_FINE_LOCATION",
  "android.permission.RECORD_AUDIO",
  "android.permission.REQUEST_IGNORE_BATTERY_OPTIMIZATIONS",
  "com.google.android.c2dm.permission.RECEIVE",
  "com.google.android.gms.permission.AD_ID",
  "com.example.bank.DYNAMIC_RECEIVER_NOT_EXPORTED_PERMISSION",
];
const WORDS = [
  "default",
  "none",
  "unknown",
  "charging",
  "portrait",
  "good",
  "wifi",
  "cellular",
  "automatic",
  "speaker",
];

/** Items for lists of paths, libraries and markers. */
const ARTEFACTS = [
  "/system/bin/su",
  "/system/xbin/busybox",
  "/data/adb/modules",
  "/data/local/tmp/re.frida.server",
  "/sbin/.magisk",
  "libfrida-gadget.so",
  "libsubstrate.so",
  "de.robv.android.xposed.XposedBridge",
  "ro.kernel.qemu",
  "ro.hardware.goldfish",
  "/dev/qemu_pipe",
  "gum-js-loop",
  "LD_PRELOAD",
  "DYLD_INSERT_LIBRARIES",
  "com.android.vending",
  "generic_x86_64",
];

type Maker = (random: Random, model: Model) => unknown;

const pickSome = (random: Random, items: readonly string[], maximum: number): string[] =>
  items.filter(() => random.chance(maximum / items.length)).slice(0, maximum);

const randomDigest = (random: Random): string => random.hex(64);

/** Makers for fields whose values have a special form. The values of all other fields follow from type and unit. */
const MAKERS_BY_FIELD: Readonly<Record<string, Maker>> = {
  manufacturer: (_, model) => model.maker,
  brand: (_, model) => model.brand,
  model: (_, model) => model.model,
  systemName: () => "Android",
  systemVersion: (random) => random.pick(["12", "13", "14", "15", "16"]),
  osBuild: (random) => `AP${random.below(4)}A.24${random.below(10)}${random.below(10)}05.0${random.below(99)}`,
  kernelVersion: (random) =>
    `#1 SMP PREEMPT Tue Mar ${random.below(28)} 0${random.below(10)}:14:${random.below(60)} UTC 2026`,
  kernelOsRelease: (random) => `6.1.${random.below(130)}-android14-11-g${random.hex(12)}-ab${random.below(1e8)}`,
  kernelOsType: () => "Linux",
  board: (_, model) => model.code,
  device: (_, model) => model.code,
  product: (_, model) => `${model.code}xx`,
  hardware: (_, model) => model.soc.toLowerCase(),
  bootloader: (random, model) =>
    `${model.code.toUpperCase()}XXS${random.below(9)}C${random.pick(["XK", "YA"])}${random.below(9)}`,
  display: (random) => `UP1A.${random.below(1e6)}.${random.below(100)}`,
  fingerprint: (random, model) =>
    `${model.brand}/${model.code}xx/${model.code}:15/AP3A.${random.below(1e6)}.0${random.below(99)}/${random.below(1e8)}:user/release-keys`,
  host: (random) => `build-${random.below(4000)}`,
  id: (random) => `AP3A.${random.below(1e6)}.0${random.below(99)}`,
  tags: () => "release-keys",
  buildType: () => "user",
  codename: () => "REL",
  incremental: (random) => String(random.below(1e8)),
  securityPatch: (random) => `2026-${String(1 + random.below(11)).padStart(2, "0")}-0${random.pick([1, 5])}`,
  baseOs: () => "",
  socManufacturer: (random) => random.pick(["Qualcomm", "Samsung", "Google", "Mediatek"]),
  socModel: (_, model) => model.soc,
  supportedAbis: () => ["arm64-v8a", "armeabi-v7a", "armeabi"],
  fontsDigest: randomDigest,
  language: (random) => random.pick(LANGUAGES),
  country: (random) => random.pick(COUNTRIES),
  languages: (random) => pickSome(random, LANGUAGES, 3),
  keyboardLanguages: (random) => pickSome(random, LANGUAGES, 2),
  timezoneId: (random) => random.pick(ZONES),
  currencyCode: (random) => random.pick(["EUR", "USD", "BRL", "INR", "IDR", "JPY"]),
  networkOperatorName: (random) => random.pick(CARRIERS),
  simOperatorName: (random) => random.pick(CARRIERS),
  networkCountryIso: (random) => random.pick(COUNTRIES).toLowerCase(),
  simCountryIso: (random) => random.pick(COUNTRIES).toLowerCase(),
  localIpAddresses: (random) => [
    `192.168.${random.below(3)}.${random.below(255)}`,
    `fe80::${random.hex(4)}:${random.hex(4)}:${random.hex(4)}:${random.hex(4)}`,
  ],
  dnsServerAddresses: (random) => [`192.168.${random.below(3)}.1`, random.pick(["8.8.8.8", "1.1.1.1", "9.9.9.9"])],
  interfaceNames: () => ["lo", "dummy0", "wlan0", "rmnet_data0", "rmnet_data1"],
  networkTransportTypes: (random) => [random.pick(["wifi", "cellular"])],
  wifiSsid: (random) => `FRITZ!Box ${random.below(9000)} ${random.hex(2)}`,
  wifiBssid: (random) => (random.hex(12).match(/../g) ?? []).join(":"),
  grantedPermissions: (random) => pickSome(random, PERMISSIONS, 15),
  signingCertificateSha256: certificateDigests,
  signingCertificateHistorySha256: certificateDigests,
  initiatingPackageSigningCertificateSha256: () => ["f0fd6c5b410f25cb25c3b53346c8972fae30f8ee7411df910480ad6b2d60db83"],
  installerPackage: () => "com.android.vending",
  installingPackageName: () => "com.android.vending",
  initiatingPackageName: () => "com.android.vending",
  updateOwnerPackageName: () => "com.android.vending",
  bundleId: () => "com.example.bank",
  appName: () => "Example Bank",
  appVersion: (random) => `7.${random.below(20)}.${random.below(5)}`,
  appBuild: (random) => String(70_000 + random.below(4000)),
  bundleExecutable: () => "ExampleBank",
  splitNames: () => ["config.arm64_v8a", "config.en", "config.xxhdpi"],
  emulatorChecksPerformed: () => ["build", "files", "properties", "cpu", "sensors", "vendor"],
  rendererName: (random) => `Adreno (TM) ${random.pick([619, 642, 710, 730, 740, 750])}`,
  vendorName: () => "Qualcomm",
  verifiedBootState: () => "green",
  abi: () => "arm64-v8a",
  connectionType: (random) => random.pick(["wifi", "cellular"]),
  hermesVersion: () => "0.16.0",
  reactNativeVersion: () => "0.86.3",
  installedFlaggedApps: (random) => (random.chance(0.1) ? ["com.teamviewer.quicksupport.market"] : []),
};

function certificateDigests(): string[] {
  return ["3a8f5c0d1b7e4926a5d0c3f1e8b7946d2c1a0f9e8d7b6c5a4938271605f4e3d2"];
}

function numberOf(field: Field, random: Random): number {
  switch (field.unit) {
    case "ms":
      return Math.round(random.next() * 1e6) / 1000;
    case "ns":
      return random.below(200_000);
    case "epoch ms":
      return 1_700_000_000_000 + random.below(90_000_000) * 1000;
    case "bytes":
      return random.below(4_000_000) * 4096;
    case "ratio":
      return Math.round(random.next() * 100) / 100;
    case "px":
      return random.pick([720, 1080, 1220, 1440, 1600, 2340, 2400, 2712, 3120]);
    case "dpi":
      return random.pick([320, 400, 420, 440, 480, 560]);
    case "degrees":
      return Math.round((random.next() * 180 - 90) * 1e7) / 1e7;
    case "mV":
      return 3600 + random.below(800);
    case "°C":
      return 20 + random.below(200) / 10;
    case "kbps":
      return random.below(400_000);
    case "port":
      return random.pick([8080, 8888, 3128]);
    case "API level":
      return random.pick([24, 26, 31, 33, 34, 35, 36]);
    case "Hz":
      return random.pick([44_100, 48_000]);
    case "count":
    case "index":
      return random.below(12);
    default:
      return random.below(10_000) / 10;
  }
}

function valueOf(name: string, field: Field, random: Random, model: Model): unknown {
  const make = MAKERS_BY_FIELD[name];
  if (make) return make(random, model);
  switch (field.type) {
    case "boolean":
      return random.chance(/Found|Present|Detected|suspicious|is(Emulator|Debugger)|mock/i.test(name) ? 0.02 : 0.5);
    case "number":
      return numberOf(field, random);
    case "string":
      return random.chance(0.7) ? random.pick(WORDS) : `${random.pick(WORDS)}-${random.hex(6)}`;
    case "string[]":
      return [
        ...pickSome(random, ARTEFACTS, 5),
        `${random.pick(ARTEFACTS)}.${random.hex(6)}`,
        `/data/app/~~${random.hex(8)}/base.apk`,
      ];
    case "number[]":
      return [27_042, random.below(65_536)];
    case "object":
      return Object.fromEntries(
        Object.entries(field.fields ?? {}).map(([member, inner]) => [member, valueOf(member, inner, random, model)]),
      );
  }
}

/** A raw event with every field of the catalog. The same seed gives the same event, except for `collectedAt`. */
export function fullEvent(seed: number, collectedAt: Date): RawSignalEvent {
  const random = new Random(seed);
  const model = random.pick(MODELS);
  const probes: Record<string, unknown> = Object.fromEntries(
    CATALOG.map(({ id, fields }) => [
      id,
      {
        status: "success",
        data: Object.fromEntries(
          Object.entries(fields).map(([name, field]) => [name, valueOf(name, field, random, model)]),
        ),
      },
    ]),
  );
  return {
    session_id: random.uuid(),
    client_id: `customer-${random.below(1e9)}`,
    event_type: "device_intel_collection",
    schema_version: 1,
    collected_at: collectedAt.toISOString(),
    probes,
  };
}
