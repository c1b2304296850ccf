import { createHash } from "node:crypto";
import { EXPORT_FILE, type ExportPart } from "@device-risk-signals/admin-api";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { afterEach, describe, expect, it } from "vitest";
import { escapeHtml } from "../../../base/messages/html.ts";
import { eventOf, eventParts, idOf, lines, MANIFEST, success, textOf, write } from "./readable-export.fixture.ts";
import { withPages } from "./readable-export.ts";
import { TEXTS } from "./texts/texts.ts";

it("a small account is one page: why, for how long, to whom, rights, and each observation with its meaning", async () => {
  const memory = { hardware: success({ totalMemoryBytes: 7_713_030_144, isLowMemory: false }) };
  const written = await write([...eventParts(1, eventOf(memory, { client_id: "c-1" }))]);
  expect([...written.files.keys()]).toEqual(["index.html", "letter.txt"]);
  const text = textOf(written.index);
  for (const said of [
    "Fraud prevention",
    "90 days after we received it P90D",
    "1 year after we received it P1Y",
    "this system has passed none of your data on",
    "article 77",
    "29 November 2026, 01:59:00 UTC",
    "2026-11-29T02:00:00+01:00",
    "isLowMemory no false",
    "totalMemoryBytes 7.7 GB 7713030144 bytes",
    "c-1",
  ]) {
    expect(text).toContain(said);
  }
  const meaning = CATALOG.find(({ id }) => id === "hardware")?.fields["totalMemoryBytes"]?.meaning ?? "";
  expect(written.index).toContain(escapeHtml(meaning));
  expect(written.files.get("letter.txt")).toContain("29 November 2026");
});

it("omitted, skipped, timeout, error and an observed false are different words", async () => {
  const probes = {
    hardware: success({ isLowMemory: false }),
    fonts: { status: "skipped", reason: "consent" },
    network: { status: "timeout" },
    telephony: { status: "error", error: "native-failed" },
    locale: { status: "skipped", reason: "omitted" },
  };
  const { index } = await write(eventParts(1, eventOf(probes)));
  const text = textOf(index);
  expect(text).toContain("isLowMemory no false");
  expect(text).toContain("Not looked at (skipped) : you had not consented consent Fonts fonts");
  expect(text).toContain("No answer in time (timeout) Network network");
  expect(text).toContain(
    "Failed (error) : the operating system reported an error native-failed Mobile network telephony",
  );
  expect(text).toContain("Not looked at (skipped) : other reason omitted Language and region locale");
  expect(text).toMatch(
    /Not contained \(omitted\) Device device_identity Integrity of the operating system os_integrity/,
  );
  expect(text).toMatch(
    /Known fields of this group that the event does not contain: \d+ of \d+\. That does not mean “no”/,
  );
});

it("observations of high sensitivity are listed first, with the number of their events", async () => {
  const located = eventOf({
    geolocation: success({ latitude: 52.5, constructor: 1 }),
    hardware: success({ batteryLevel: 1 }),
  });
  const failed = eventOf({ geolocation: { status: "error", error: "native-failed" } });
  const { index } = await write([1, 2, 3].flatMap((number) => eventParts(number, number < 3 ? located : failed)));
  const [, list = ""] = textOf(index).split(TEXTS.en.groups.sensitive);
  const [before = ""] = list.split(TEXTS.en.states.heading);
  expect(before).toMatch(/latitude 2 of 3 $/);
  expect(before).not.toMatch(/batteryLevel|constructor/);
  expect(textOf((await write(eventParts(1, failed))).index)).toContain(TEXTS.en.groups.noneSensitive);
});

it("a value that is no observation is marked", async () => {
  const scan = { os_integrity_frida_scan: success({ scanPerformed: false, defaultPortOpen: false }) };
  const idle = textOf((await write(eventParts(1, eventOf(scan)))).index);
  expect(idle).toContain("defaultPortOpen no false No observation: the check did not run (scanPerformed is false).");
  expect(idle).not.toContain("scanPerformed no false No observation");
  const developer = eventOf({ os_integrity: success({ developerModeEnabled: false }) });
  expect(textOf((await write(eventParts(1, developer, { platform: "ios" }))).index)).toContain("A fixed value");
  expect(textOf((await write(eventParts(1, developer))).index)).not.toContain("A fixed value");
});

it("a group with the values of an earlier event of the page names that event, unless a value or the platform differs", async () => {
  const low = eventOf({ hardware: success({ isLowMemory: false }) });
  const { index } = await write([
    ...eventParts(1, low),
    ...eventParts(2, low),
    ...eventParts(3, eventOf({ hardware: success({ isLowMemory: true }) })),
    ...eventParts(4, low, { platform: "ios" }),
  ]);
  const [, one = "", two = "", three = "", four = ""] = index.split("<details id=");
  expect(two).toContain('<a href="#e1-0">the same values as in event 1</a>');
  for (const whole of [one, three, four]) expect(whole).toContain("isLowMemory");
  expect(two).not.toContain("isLowMemory");
});

it("an event that can't be read says so, and takes nothing from the event before it", async () => {
  const readable = eventParts(1, eventOf({ hardware: success({ isLowMemory: false }) }));
  const [, row] = eventParts(2, {}, { unreadable: true, file: undefined, bytes: undefined });
  const written = await write([...readable, ...(row ? [row] : []), ...eventParts(3, [1])]);
  const [, , two = "", three = ""] = written.index.split("<details id=");
  expect(two).toContain(TEXTS.en.events.unreadable);
  expect(two).not.toContain("hardware");
  expect(three).toContain(TEXTS.en.events.notShown);
});

it("sent events are counted, accesses are listed, and names of people are left out", async () => {
  const access = {
    at: MANIFEST.exported_at,
    actor: "ann",
    outcome: "done",
    event_id: null,
    occurrences: 1,
    reason: "dispute 4711",
  };
  const { index } = await write([
    lines("accesses.ndjson", { ...access, operation: "event.read_raw" }),
    lines("accesses.ndjson", { ...access, operation: "event.create", outcome: "accepted", occurrences: 3 }),
    lines("accesses.ndjson", { ...access, operation: "event.create", outcome: "accepted", occurrences: 4 }),
  ]);
  expect(textOf(index)).toContain("one event in full event.read_raw done dispute 4711");
  expect(textOf(index)).toContain("stored accepted : 7");
  expect(index).not.toContain("ann<");
});

describe("an account that is larger than a page", () => {
  const hardware = (number: number) => eventOf({ hardware: success({ uptimeMs: number }) });
  const features = Array.from({ length: 7 }, (_, index) =>
    lines("features.ndjson", {
      event_id: idOf(index),
      received_at: MANIFEST.exported_at,
      purpose: "payments",
      unreadable: true,
    }),
  );
  const parts = [
    ...Array.from({ length: 11 }, (_, index) => eventParts(index + 1, hardware(index % 2))).flat(),
    ...features,
  ];
  const limits = { length: 1_000_000, entries: 3 };

  it("has further pages, and each link leads to a file or a place that is there", async () => {
    const { files, manifest } = await write(parts, { limits });
    expect([...files.keys()]).toEqual([
      "pages/events-2.html",
      "pages/events-3.html",
      "pages/features-2.html",
      "pages/events-4.html",
      "pages/features-3.html",
      "index.html",
      "letter.txt",
    ]);
    for (const name of files.keys()) expect(name).toMatch(new RegExp(EXPORT_FILE));
    const known = new Set([...files.keys(), "manifest.json"]);
    for (const [file, text] of files) {
      for (const [, link = ""] of text.matchAll(/href="([^"]*)"/g)) {
        const { pathname, hash } = new URL(link, `file:///${file}`);
        const target = pathname.slice(1);
        if (!/^events\/|ndjson$/.test(target)) expect(known, `${link} in ${file}`).toContain(target);
        if (hash !== "") expect(files.get(target), `${link} in ${file}`).toContain(`id="${hash.slice(1)}"`);
      }
    }
    expect(manifest.files).toEqual(
      Array.from(files, ([name, text]) => ({
        name,
        rows: expect.any(Number) as number,
        bytes: Buffer.byteLength(text),
        sha256: createHash("sha256").update(text).digest("hex"),
      })),
    );
    expect(manifest.files.map(({ rows }) => rows)).toEqual([3, 3, 3, 2, 1, 0, 0]);
  });

  it("begins a page when the page before is long enough", async () => {
    const { files } = await write(parts, { limits: { length: 5_000, entries: 500 } });
    const pages = [...files].filter(([name]) => name.startsWith("pages/events"));
    expect(pages.length).toBeGreaterThan(1);
    for (const [, text] of pages) expect(text.length).toBeLessThan(20_000);
  });
});

describe("the same parts", () => {
  const zone = process.env["TZ"];
  afterEach(() => void (process.env["TZ"] = zone));

  it("give the same bytes, in any time zone", async () => {
    const parts = [...eventParts(1, eventOf({ hardware: success({ uptimeMs: 1e8 }) }))];
    const first = await write(parts);
    process.env["TZ"] = "Asia/Tokyo";
    expect(await write(parts)).toEqual(first);
  });
});

it("an export that ends in the middle has no overview", async () => {
  const cut = (async function* (): AsyncGenerator<ExportPart> {
    yield* eventParts(1, eventOf({}));
    throw new Error("the server stopped");
  })();
  const seen: ExportPart[] = [];
  const read = async (): Promise<void> => {
    for await (const part of withPages(cut, "en", { length: 1, entries: 1 })) seen.push(part);
  };
  await expect(read()).rejects.toThrow("the server stopped");
  expect(seen).toEqual(eventParts(1, eventOf({})));
});

it("the policy of a page permits its style only", async () => {
  const { index } = await write([]);
  const style = /<style>([^]*?)<\/style>/.exec(index)?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  expect(index).toContain(
    `content="${escapeHtml(`default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`)}"`,
  );
});
