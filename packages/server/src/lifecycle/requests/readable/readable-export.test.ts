import { createHash } from "node:crypto";
import { EXPORT_FILE } from "@device-risk-signals/admin-api";
import { CATALOG } from "@device-risk-signals/contract/catalog";
import { afterEach, describe, expect, it } from "vitest";
import { escapeHtml } from "../../../base/messages/html.ts";
import { eventOf, eventParts, idOf, lines, MANIFEST, success, textOf, write } from "./readable-export.fixture.ts";
import type { StoredPart } from "../account-export.ts";
import { withPages } from "./readable-export.ts";
import { TEXTS } from "./texts/texts.ts";

it("a small account is one page: why, for how long, to whom, rights, and each observation with its meaning", async () => {
  const memory = { hardware: success({ totalMemoryBytes: 7_713_030_144, isLowMemory: false }) };
  const written = await write([...eventParts(1, eventOf(memory, { client_id: "c-1" }))]);
  expect([...written.files.keys()]).toEqual(["index.html", "letter.txt"]);
  const text = textOf(written.index);
  for (const said of [
    "Fraud prevention",
    "We keep the exact event 90 days after we received it",
    "1 year after we received it",
    "We delete it on 27 February 2027",
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

it("observations of high sensitivity are shown with their values, when, and links to their events", async () => {
  const at = (latitude: number) =>
    eventOf({ geolocation: success({ latitude, constructor: 1 }), hardware: success({ batteryLevel: 1 }) });
  const failed = eventOf({ geolocation: { status: "error", error: "native-failed" } });
  const parts = [52.5, 52.5, 48.137_154, failed].flatMap((of, index) =>
    eventParts(index + 1, typeof of === "number" ? at(of) : of),
  );
  const { index } = await write(parts);
  const [, list = ""] = index.split(TEXTS.en.groups.sensitive);
  const [table = ""] = list.split("</table>");
  expect(textOf(table)).toContain(
    "latitude 52.5 degrees 2 events from 29 November 2026 to 29 November 2026; the newest is Event 1",
  );
  expect(textOf(table)).toContain("latitude 48.13715 degrees 29 November 2026: Event 3");
  expect(table).toContain('<a href="#i1">Event 1</a>');
  expect(textOf(table)).not.toMatch(/batteryLevel|constructor/);
  expect(textOf((await write(eventParts(1, failed))).index)).toContain(TEXTS.en.groups.noneSensitive);
});

it("the same observation of two groups names its group, and further values are counted", async () => {
  const helped = success({ accessibilityRunning: true });
  const places = Array.from({ length: 13 }, (_, index) => eventOf({ geolocation: success({ latitude: index }) }));
  const both = eventOf({ media_bluetooth_apps: helped, transaction_safety: helped });
  const { index } = await write([both, ...places].flatMap((event, number) => eventParts(number + 1, event)));
  const { probes, otherValues } = TEXTS.en.groups;
  for (const id of ["media_bluetooth_apps", "transaction_safety"] as const) {
    expect(textOf(index)).toContain(`(accessibility) was on · ${probes[id][0]} accessibilityRunning yes true`);
  }
  expect(textOf(index)).toContain(`latitude ${otherValues.replace("{count}", "3")}`);
});

it("an objection is among the requests, explains what it excludes, and is in the letter", async () => {
  const asked = { request_id: "r", kind: "objection", received_at: "2026-11-28", due_at: "2026-12-28", identity: null };
  const what = { article: 21, purpose: "payments", request_id: "r", reason: "objection 17" };
  const objection = { ...what, placed_at: MANIFEST.exported_at };
  const ended = { ...objection, article: 18, purpose: null, placed_at: "2026-01-02T00:00:00Z" };
  const { index, files } = await write([
    lines("requests.ndjson", { ...asked, closed_at: MANIFEST.exported_at, outcome: "done", ground: null }),
    lines("restrictions.ndjson", { ...objection, lifted_at: null, erased: false }),
    lines("restrictions.ndjson", { ...ended, lifted_at: MANIFEST.exported_at, erased: false }),
    ...eventParts(1, eventOf({}), { restricted: true }),
    ...eventParts(2, eventOf({}), { restricted: true, purpose: "other" }),
    ...eventParts(3, eventOf({})),
  ]);
  const cause = "because of your objection (article 21) of 29 November 2026";
  const [, one = "", two = "", three = ""] = index.split("<details id=");
  expect(one).toContain('<a href="#requests">');
  expect(textOf(one)).toContain(`Excluded from analysis yes true ${cause}`);
  expect(textOf(two)).toContain("Excluded from analysis yes true Session");
  expect(textOf(three)).toContain("Excluded from analysis no false");
  const [, requests = ""] = index.split('<h2 id="requests">');
  expect(textOf(requests)).toMatch(
    /objection \(article 21\) Fraud prevention payments is active[^|]* 28 November 2026 objection 17/,
  );
  expect(files.get("letter.txt")).toContain("- Active: objection (article 21) of 29 November 2026\n");
  expect(files.get("letter.txt")).not.toContain("article 18)");
});

it("the letter has what the files know, and says how many parts are to be completed", async () => {
  const request = {
    request_id: "request-1",
    kind: "access",
    received_at: "2026-11-20T10:00:00Z",
    due_at: "2026-12-20T10:00:00Z",
    closed_at: null,
    outcome: null,
    ground: null,
    identity: "passport [copy]",
  };
  const recipient = { kind: "features", purpose: null, features: null, recipient: "fraud desk", rows: 1 };
  const known = await write(
    [
      lines("periods.ndjson", { record: "backups", period: "P35D" }),
      lines("requests.ndjson", { ...request, request_id: "request-0", kind: "erasure" }, request),
      lines("exports.ndjson", { ...recipient, exported_at: MANIFEST.exported_at, expires_on: "2027-01-01" }),
      ...eventParts(1, eventOf({})),
    ],
    { manifest: { ...MANIFEST, request_id: "request-1" } },
  );
  const letter = known.files.get("letter.txt") ?? "";
  for (const said of [
    "Your request of 20 November 2026: request for access (account customer-1)",
    "Number of your request: request-1.",
    "answer by 20 December 2026.",
    "We checked your identity: passport [copy].",
    "- events from 29 November 2026 to 29 November 2026: 1; values",
    "- Fraud prevention (legitimate interest): the exact event 90 days after we received it",
    "longer: 35 days",
    "- from this system: fraud desk",
  ]) {
    expect(letter).toContain(said);
  }
  const gaps = known.manifest.letter_gaps;
  expect(letter).toContain(`NOT READY TO SEND. ${gaps} parts in [brackets]`);
  expect(letter.match(/\[[^\]]+\]/g)).toHaveLength(gaps + 2);
  const unknown = await write([]);
  expect(unknown.manifest.letter_gaps).toBe(gaps + 6);
  const fallback = await write([lines("requests.ndjson", request)]);
  expect(fallback.files.get("letter.txt")).toContain("Number of your request: request-1.");
});

it("a value says who received it, and links to its event unless that is deleted", async () => {
  const at = MANIFEST.exported_at;
  const value = { event_id: idOf(1), received_at: at, delete_on: at, purpose: "payments", state: "observed", value: 1 };
  const feature = { ...value, feature: "root_traces@1", meaning: "Traces of root", extracted_at: at };
  const out = { kind: "features", recipient: "fraud desk", exported_at: at, expires_on: "2027-01-01", rows: 1 };
  const { index } = await write([
    lines("exports.ndjson", { ...out, purpose: "payments", features: ["root_traces@1"] }),
    lines("exports.ndjson", { ...out, purpose: "payments", features: ["root_traces@1"], exported_at: "2026-01-01" }),
    ...eventParts(1, eventOf({})),
    lines("features.ndjson", feature, { ...feature, event_id: idOf(9), feature: "other@1" }),
  ]);
  const [, values = ""] = index.split('<h2 id="features">');
  const text = textOf(values);
  expect(values).toContain('<a href="#i1">Event 1</a>');
  expect(text).toContain(
    "Traces of root root_traces@1 1 computed on 29 November 2026 fraud desk (29 November 2026) 29",
  );
  expect(text).toContain(TEXTS.en.features.deleted);
  expect(textOf(index.split('<h2 id="recipients">')[1] ?? "")).toContain("computed values features : root_traces@1");
});

it("long numbers are rounded, and devices are counted with the events that name none", async () => {
  const timing = success({ jsTimerResolutionMs: 0.000_059_999_998_484_272_51 });
  const phone = success({ manufacturer: "Google", model: "Pixel 8", batteryLevel: 1 });
  const { index } = await write([
    ...eventParts(1, eventOf({ runtime_timing: timing, device_identity: phone })),
    ...eventParts(2, eventOf({})),
  ]);
  expect(textOf(index)).toContain("jsTimerResolutionMs 0.00006 milliseconds");
  expect(textOf(index)).toContain(`Google Pixel 8 : 1 ${TEXTS.en.summary.notStated}: 1`);
  const { index: unnamed } = await write(eventParts(1, eventOf({})));
  expect(textOf(unnamed)).toContain(`${TEXTS.en.summary.devices} ${TEXTS.en.summary.notStated}: 1`);
});

it("observations have the order of the catalog, and say in words what they are", async () => {
  const data = { surprise: 1, suspiciousFilePaths: ["/su"], isEmulator: true, suspiciousFilePathsFound: true };
  const { index } = await write(eventParts(1, eventOf({ os_integrity: success(data) })));
  expect(textOf(index)).toMatch(
    /Files were found that root [^]*Which such files were found [^]*isEmulator yes true [^]*surprise 1/,
  );
  const build = { androidBuild: { tags: "test-keys" } };
  const nested = await write(eventParts(1, eventOf({ device_identity: success(build) })));
  expect(nested.index).toContain("<dt>Marks of the system’s build, such as release-keys <small");
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

it("sent events are counted, and accesses are listed with the roles of who looked", async () => {
  const access = {
    at: MANIFEST.exported_at,
    via: "cli",
    roles: ["privacy"],
    outcome: "done",
    event_id: null,
    occurrences: 1,
    reason: "dispute 4711",
  };
  const { index } = await write([
    lines("accesses.ndjson", { ...access, operation: "event.read_raw" }),
    lines("accesses.ndjson", { ...access, operation: "event.list", via: "direct", roles: [] }),
    lines("accesses.ndjson", { ...access, operation: "event.create", outcome: "accepted", occurrences: 3 }),
    lines("accesses.ndjson", { ...access, operation: "event.create", outcome: "accepted", occurrences: 4 }),
  ]);
  const { roles, ways } = TEXTS.en.accesses;
  expect(textOf(index)).toContain(`${roles.privacy} privacy one event in full event.read_raw done dispute 4711`);
  expect(textOf(index)).toContain(`${ways.direct} direct list of events`);
  expect(textOf(index)).toContain("stored accepted : 7");
});

describe("an account that is larger than a page", () => {
  const hardware = (number: number) => eventOf({ hardware: success({ uptimeMs: number }) });
  const features = Array.from({ length: 7 }, (_, index) =>
    lines("features.ndjson", {
      event_id: idOf(index),
      received_at: MANIFEST.exported_at,
      delete_on: null,
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
  const cut = (async function* (): AsyncGenerator<StoredPart> {
    yield* eventParts(1, eventOf({}));
    throw new Error("the server stopped");
  })();
  const seen: object[] = [];
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
