import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { randomEvent } from "../../../../../../e2e/support/random-event.ts";
import {
  eventOf,
  eventParts,
  lines,
  MANIFEST,
  PURPOSE,
  success,
  textOf,
  write,
  type Written,
} from "./readable-export.fixture.ts";
import { TEXTS } from "./texts/texts.ts";

describe("hostile values", () => {
  const TAGS = `<script>alert(1)</script><img src=x onerror=alert(1)>"'&</details></title>\n`;
  const HOSTILE = `${TAGS}\u202E\u2066\u0000\u001B[31m\u200B\uD800\u2028`;
  const LINKS = [
    "#[a-z]+",
    "#e\\d+-\\d+",
    "(?:(?:\\.\\./)?(?:pages/)?(?:index|events-\\d+)\\.html)?#i\\d+",
    "(?:\\.\\./)?index\\.html",
    "(?:pages/)?\\w+-\\d+\\.html",
    "(?:\\.\\./)?events/[\\w-]+\\.json",
    "[\\w-]+\\.ndjson",
    "manifest\\.json",
  ];
  const ALLOWED = [
    "!doctype html",
    'html lang="\\w\\w"',
    'meta charset="utf-8"',
    'meta http-equiv="Content-Security-Policy" content="[^"<>]+"',
    'meta name="(?:viewport|referrer)" content="[\\w=-]+"',
    "/?(?:html|head|title|style|body|h[1-3]|p|b|i|q|nav|ul|li|bdi|code|dl|dt|dd|table|thead|tbody|tr|th|td|details|summary|div|small)",
    "br",
    "/(?:a|span|time)",
    'h2 id="[a-z]+"',
    'nav id="contents"',
    'div id="i\\d+"',
    'small lang="en"',
    'a class="up" href="#contents"',
    'dl class="facts"',
    'p class="note"(?: id="e\\d+-\\d+")?',
    'details id="e\\d+"',
    'td data-label="[\\w ]+"',
    'time datetime="[\\d:.TZ-]+"',
    `a href="(?:${LINKS.join("|")})"`,
  ].map((tag) => new RegExp(`^<${tag}>$`));

  /** Nothing of a value becomes a tag, an attribute or an invisible character. */
  function expectHarmless(written: Written): void {
    for (const [file, text] of written.files) {
      // eslint-disable-next-line no-control-regex
      expect(
        text.match(/[\p{Cc}\p{Cf}\p{Surrogate}\p{Zl}\p{Zp}]/gu)?.find((found) => found !== "\n"),
        file,
      ).toBeUndefined();
      if (file === "letter.txt") continue;
      const tags = text.replace(/<style>[^]*?<\/style>/, "").match(/<[^>]*>?/g) ?? [];
      expect(
        tags.find((tag) => !ALLOWED.some((allowed) => allowed.test(tag))),
        file,
      ).toBeUndefined();
    }
  }

  it("in every place stay text", async () => {
    const at = { at: MANIFEST.exported_at, received_at: HOSTILE, exported_at: HOSTILE, placed_at: HOSTILE };
    const texts = { operation: HOSTILE, outcome: HOSTILE, reason: HOSTILE, recipient: HOSTILE, kind: HOSTILE };
    const others = { purpose: HOSTILE, expires_on: HOSTILE, due_at: HOSTILE, ground: HOSTILE, event_id: HOSTILE };
    const more = { via: HOSTILE, roles: [HOSTILE], identity: HOSTILE, request_id: "r", features: [HOSTILE] };
    const times = { lifted_at: null, closed_at: HOSTILE, delete_on: HOSTILE };
    const line = { ...at, ...texts, ...others, ...more, ...times, article: HOSTILE, occurrences: 2, rows: 1 };
    const feature = {
      ...line,
      feature: HOSTILE,
      meaning: HOSTILE,
      state: "observed",
      value: HOSTILE,
      extracted_at: HOSTILE,
    };
    const event = eventOf(
      {
        device_identity: success({
          manufacturer: HOSTILE,
          model: HOSTILE,
          [HOSTILE]: { [HOSTILE]: [HOSTILE, [HOSTILE]] },
        }),
        [HOSTILE]: success({ [HOSTILE]: HOSTILE }),
        __proto__: success({}),
        fonts: { status: "skipped", reason: HOSTILE },
        network: { status: "error", error: "constructor" },
      },
      { client_id: HOSTILE, [HOSTILE]: HOSTILE, collected_at: HOSTILE },
    );
    const attributes = {
      action_type: HOSTILE,
      purpose: HOSTILE,
      session_id: HOSTILE,
      app_version: HOSTILE,
      platform: HOSTILE,
    };
    const parts = [
      lines("purposes.ndjson", { ...PURPOSE, purpose: HOSTILE, title: HOSTILE, legal_basis: HOSTILE, owner: HOSTILE }),
      ...eventParts(1, event, { ...attributes, idempotency_key: HOSTILE, action_id: HOSTILE, sdk_version: HOSTILE }),
      ...["exports", "requests", "restrictions", "accesses"].map((name) => lines(`${name}.ndjson`, line)),
      lines("features.ndjson", feature),
    ];
    const written = await write(parts, { manifest: { ...MANIFEST, account: HOSTILE, request_id: "r" } });
    const { warning, body } = TEXTS.en.letter;
    const lettered = warning.length + body.length;
    expectHarmless(written);
    expect(written.index).toContain("&lt;script&gt;alert(1)");
    expect(written.index).toContain("\\u202e");
    expect(written.files.get("letter.txt")?.split("\n")).toHaveLength(lettered);
  });

  it("that are names of Object's prototype are no words of a vocabulary", async () => {
    const event = eventOf({
      hardware: success({ constructor: 1 }),
      fonts: { status: "skipped", reason: "constructor" },
      valueOf: success({}),
    });
    const who = { via: "valueOf", roles: ["constructor"] };
    const access = { ...who, at: MANIFEST.exported_at, operation: "constructor", outcome: "toString", occurrences: 1 };
    const { index } = await write([
      ...eventParts(1, event),
      lines("accesses.ndjson", { ...access, event_id: null, reason: null }),
    ]);
    const text = textOf(index);
    expect(text).toContain(`${TEXTS.en.events.unknownField} constructor 1`);
    expect(text).toContain(`(skipped) : ${TEXTS.en.states.outside} constructor`);
    expect(text).toContain(
      `${TEXTS.en.accesses.otherOperation} constructor ${TEXTS.en.accesses.otherOutcome} toString`,
    );
    expect(text).toContain(`valueOf · values: 0 ${TEXTS.en.groups.unknown}`);
  });

  it("of any event that the endpoint accepts stay text", async () => {
    await fc.assert(
      fc.asyncProperty(randomEvent("s", "2026-11-29T02:00:00Z"), async (text) => {
        expectHarmless(await write(eventParts(1, text)));
      }),
      { numRuns: 200 },
    );
  });

  it("of any size give a page of a limited size, which says what is only in the file", async () => {
    const fields = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`f${index}`, 0]));
    const probes = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`p${index}`, success({ a: 1 })]));
    const event = eventOf({
      ...probes,
      fonts: success({ fontsDigest: `x${"\u{1F600}".repeat(60_000)}`, ...fields }),
      network: success({ interfaceNames: Array.from({ length: 30_000 }, () => "") }),
    });
    const { index } = await write(eventParts(1, event));
    expect(index.length).toBeLessThan(150_000);
    expect(index, "a pair of surrogates is not divided").not.toContain("\\ud83d");
    for (const said of [
      "… cut; 120001 characters in the file",
      "… and 29960 more in the file",
      "Further fields that are only in the file: 19900.",
      "Further groups that are only in the file: 950.",
    ]) {
      expect(index).toContain(said);
    }
  });
});
