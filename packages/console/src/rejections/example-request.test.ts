import { execFileSync } from "node:child_process";
import { PROBLEMS, VIOLATIONS } from "@device-risk-signals/contract/errors";
import { describe, expect, it } from "vitest";
import { exampleRequest, type RejectedRule } from "./example-request.ts";

const rejection = (changes: Partial<RejectedRule>): RejectedRule => ({
  problem: "request-invalid",
  cause: null,
  violation: null,
  place: null,
  ...changes,
});

/** The body and the headers that a shell gives to `curl`. */
function sentBy(text: string): { readonly body: string; readonly headers: readonly string[] } {
  const script = `curl() { for one in "$@"; do printf '%s\\n' "$one" >&2; done; cat; }\n${text}`;
  const options = { encoding: "utf8", shell: false } as const;
  const body = execFileSync("sh", ["-c", `exec 2>&1; ${script}`], options);
  const at = body.indexOf("\n@-\n");
  return { headers: body.slice(0, at).split("\n"), body: body.slice(at + 4) };
}

describe("the request to paste", () => {
  it("exists for each problem and each violation, and a shell runs it", () => {
    const rejected = [
      ...Object.keys(PROBLEMS).map((problem) => rejection({ problem })),
      ...Object.keys(VIOLATIONS).map((violation) => rejection({ violation, place: "/observations/probes/*/status" })),
    ];
    for (const one of rejected) {
      const text = exampleRequest(one) ?? "";
      expect(text, JSON.stringify(one)).toContain("$ENDPOINT/api/v1/device-signal-events");
      expect(sentBy(text).headers).toContain("https://signals.example/api/v1/device-signal-events");
    }
  });

  it("lacks the member that is missing, and has the others", () => {
    const text = exampleRequest(rejection({ violation: "member-missing", place: "/platform" })) ?? "";
    const body = JSON.parse(sentBy(text).body) as Record<string, unknown>;
    expect(Object.keys(body)).toEqual(["action_id", "action_type", "sdk_version", "app_version", "observations"]);
    expect(text).toMatch(/^# Is refused again: 400 Request invalid, member-missing at \/platform\n/);
  });

  it("breaks the rule inside a probe, whose name it invents", () => {
    const text =
      exampleRequest(rejection({ violation: "member-missing", place: "/observations/probes/*/reason" })) ?? "";
    expect(JSON.parse(sentBy(text).body)).toMatchObject({
      observations: { probes: { example: { status: "skipped" } } },
    });
    const wrong = exampleRequest(
      rejection({
        problem: "adopted-field-invalid",
        violation: "catalog-departure",
        place: "/observations/probes/hardware/data/batteryLevel",
      }),
    );
    expect(JSON.parse(sentBy(wrong ?? "").body)).toMatchObject({
      observations: { probes: { hardware: { status: "success", data: { batteryLevel: {} } } } },
    });
  });

  it("has no code, and no place, that a stolen login of the database may have written", () => {
    for (const hostile of ["$(touch /tmp/x)", "`id`", "a\nrm", '"; rm', "__proto__", "\u202Ex"]) {
      expect(exampleRequest(rejection({ problem: hostile }))).toBeUndefined();
      expect(exampleRequest(rejection({ violation: hostile, place: "/platform" }))).toBeUndefined();
      expect(exampleRequest(rejection({ violation: "member-missing", place: `/${hostile}` }))).toBeUndefined();
    }
    expect(exampleRequest(rejection({ violation: "too-short", place: "/__proto__/polluted" }))).toBeUndefined();
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
