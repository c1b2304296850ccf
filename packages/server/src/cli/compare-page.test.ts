import { expect, it } from "vitest";
import { comparePage } from "./compare-page.ts";

const COMPARED = {
  before: "found@1",
  after: "found@2",
  purpose: "payments",
  from: null,
  is_exact: false,
  events: 120,
  undecided: 0,
  cells: [
    { platform: "android", sdk_version: "<script>1</script>", before: "observed true", after: "omitted", events: 100 },
    {
      platform: "android",
      sdk_version: "<script>1</script>",
      before: 'observed "a"&b',
      after: "omitted",
      events: null,
    },
  ],
};

it("shows each cell, and no number that is suppressed, in a page that loads and runs nothing", () => {
  const page = comparePage(COMPARED);
  expect(page).toContain(">100</text>");
  expect(page).toContain(">not shown</text>");
  expect(page).toContain("120 events, 0 undecided");
  expect(comparePage({ ...COMPARED, events: null, undecided: null })).toContain(
    "events not shown, undecided not shown",
  );
  expect(page).toContain("default-src 'none'");
  expect(page.replace("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:|<script|<link|<img|src=|href=/);
});

it("escapes names that come from clients and definitions", () => {
  const page = comparePage(COMPARED);
  expect(page).toContain("&lt;script&gt;1&lt;/script&gt;");
  expect(page).toContain("observed &quot;a&quot;&amp;b");
});
