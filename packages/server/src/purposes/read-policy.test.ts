import { readFile } from "node:fs/promises";
import { describe, expect, it, test } from "vitest";
import { readPolicy } from "./read-policy.ts";

const GOOD = `
purposes:
  - id: payments
    title: Fraud prevention in payments
    legal_basis: legitimate interest
    raw_retention: P90D
    derived_retention: P1Y
    owner: fraud team
  - id: others
    title: Anything else
    legal_basis: consent
    raw_retention: P7D
    derived_retention: P7D
    owner: fraud team
    probes: [fonts, hardware]
    highest_sensitivity: medium
    beyond: refuse
    export_attributes: [sdk_version, platform]
actions:
  payment: payments
  "transfer.large": payments
unmapped: others
`;

function problems(text: string): readonly string[] {
  const result = readPolicy(text);
  return result.ok ? [] : result.problems;
}

/** The good policy with a piece of it replaced. */
const replaced = (piece: string, other: string): string => {
  if (!GOOD.includes(piece)) throw new Error(`${piece} is not in it`);
  return GOOD.replace(piece, other);
};

it("a policy is read as it is written", () => {
  const result = readPolicy(GOOD);
  expect(result.ok && result.policy).toEqual({
    purposes: [
      {
        id: "payments",
        title: "Fraud prevention in payments",
        legal_basis: "legitimate interest",
        raw_retention: "P90D",
        derived_retention: "P1Y",
        owner: "fraud team",
        beyond: "record",
        retired: false,
      },
      {
        id: "others",
        title: "Anything else",
        legal_basis: "consent",
        raw_retention: "P7D",
        derived_retention: "P7D",
        owner: "fraud team",
        probes: ["fonts", "hardware"],
        highest_sensitivity: "medium",
        beyond: "refuse",
        export_attributes: ["platform", "sdk_version"],
        retired: false,
      },
    ],
    actions: { payment: "payments", "transfer.large": "payments" },
    unmapped: "others",
  });
});

test("the policy of the documents' example is valid", async () => {
  expect(problems(await readFile("docs/privacy/purposes.yaml", "utf8"))).toEqual([]);
});

test("a policy may reject unmapped action types", () => {
  expect(problems(replaced("unmapped: others", "unmapped: refuse"))).toEqual([]);
});

describe("a problem of a policy is named with its place", () => {
  test.each([
    ["raw_retention: P90D", "raw_retention: -P90D", "purposes.0.raw_retention: must be an ISO 8601 duration"],
    ["raw_retention: P90D", "raw_retention: P9000Y", "purposes.0.raw_retention: must be an ISO 8601 duration"],
    ["raw_retention: P90D", "raw_retention: 90", "purposes.0.raw_retention: must be an ISO 8601 duration"],
    ["derived_retention: P1Y", "derived_retention: P0D", "purposes.0.derived_retention: must be an ISO 8601 duration"],
    ["id: payments", "id: refuse", "purposes.0.id: must be 1 to 63"],
    ["id: payments", "id: others", "purposes.1.id: is the id of another purpose"],
    ["id: payments", "id: 7", "purposes.0.id: must be 1 to 63"],
    ["title: Fraud", "titel: Fraud", "purposes.0.titel: is not a member"],
    ["title: Fraud prevention in payments", "title: ''", "purposes.0.title: must be a text"],
    ["legal_basis: consent", "legal_basis: []", "purposes.1.legal_basis: must be a text"],
    ["[fonts, hardware]", "[fonts, pulse]", "purposes.1.probes: must be a list of probe ids"],
    ["highest_sensitivity: medium", "highest_sensitivity: none", "purposes.1.highest_sensitivity: must be low, medium"],
    ["[sdk_version, platform]", "[session_id]", "purposes.1.export_attributes: must be a list of platform, sdk"],
    ["[sdk_version, platform]", "[platform, platform]", "purposes.1.export_attributes: must be a list of platform"],
    ["[sdk_version, platform]", "platform", "purposes.1.export_attributes: must be a list of platform, sdk_version"],
    ["beyond: refuse", "beyond: redact", "purposes.1.beyond: must be record, refuse"],
    ["beyond: refuse", "retired: yes", "purposes.1.retired: must be true or false"],
    ["payment: payments", "payment: payment", "actions.payment: must be the id of a purpose"],
    ["payment: payments", "payment: [payments]", "actions.payment: must be the id of a purpose"],
    ["payment: payments", "payment: payments\n  payment: others", "Map keys must be unique"],
    ["payment: payments", `${"a".repeat(65)}: payments`, "an action type has 1 to 64 characters"],
    ["payment: payments", "payment: payments\n  <<: {}", "actions.<<: must be the id"],
    ["unmapped: others", "unmapped: unknown", "unmapped: must be the id of a purpose"],
    ["unmapped: others", "unmapped: payments", "unmapped: must name the purpose with the shortest raw_retention"],
    ["unmapped: others", "", "unmapped: must be refuse or the id of a purpose"],
    ["unmapped: others", "unmapped: others\nnotes: none", "notes: is not a member"],
    ["beyond: refuse", "retired: true", "unmapped: names a purpose that is retired"],
  ])("after %s was replaced by %s", (piece, other, problem) => {
    const found = problems(replaced(piece, other));
    expect(found.join("\n")).toContain(problem);
  });

  test("together with all others", () => {
    expect(problems("purposes: [{}]\nactions: 3").length).toBeGreaterThan(6);
  });

  test.each([
    ["not a mapping", "- a"],
    ["nothing", ""],
    ["no list", "purposes: {}\nactions: {}\nunmapped: refuse"],
    ["no YAML", "{"],
  ])("for a text that is %s", (_, text) => {
    expect(problems(text)).not.toEqual([]);
  });

  test("for aliases that would expand to a huge policy", () => {
    const lines = Array.from({ length: 30 }, (_, index) => `a${index + 1}: &a${index + 1} [*a${index}, *a${index}]`);
    expect(problems(`a0: &a0 [x]\n${lines.join("\n")}`)).toEqual([expect.stringContaining("without aliases")]);
  });
});
