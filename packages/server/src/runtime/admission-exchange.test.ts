import { describe, expect, it } from "vitest";
import { Admission, type Permit } from "../ingest/admission.ts";
import { RejectedRequest } from "../ingest/request.ts";
import { AdmissionExchange, type HeldReport } from "./admission-exchange.ts";

/** Processes whose reports arrive when `deliver` is called. */
function makeProcesses(count: number, requests: number) {
  const waiting: (() => void)[] = [];
  const sent: { readonly from: number; readonly report: HeldReport }[] = [];
  const exchanges = Array.from(
    { length: count },
    (_, from) =>
      new AdmissionExchange(
        (report) => void sent.push({ from, report }),
        (work) => void waiting.push(work),
      ),
  );
  const deliver = (): number => {
    for (const work of waiting.splice(0)) work();
    const reports = sent.splice(0);
    for (const { from, report } of reports) {
      exchanges.forEach((exchange, to) => from !== to && exchange.receive(from, report));
    }
    return reports.length;
  };
  const admissions = exchanges.map((exchange) => new Admission(requests, 64 * 1024 * 1024, exchange));
  return { exchanges, admissions, deliver };
}

const enter = (admission: Admission | undefined, account: string): Permit => {
  const permit = tryEnter(admission, account);
  if (permit === undefined || typeof permit === "string") throw new Error(`rejected: ${permit}`);
  return permit;
};

const tryEnter = (admission: Admission | undefined, account: string): Permit | string | undefined => {
  const permit = admission?.enter(account, { encoding: "identity", length: 100 }, 262_144);
  return permit instanceof RejectedRequest ? permit.rejection.code : permit;
};

describe("admission by two processes", () => {
  it("has the limits of one process, and one process may use them fully while the other is idle", () => {
    const { admissions, deliver } = makeProcesses(2, 128);
    const [first, second] = admissions;
    const permits = Array.from({ length: 32 }, () => enter(first, "a"));
    expect(tryEnter(first, "a")).toBe("too-many-requests");
    deliver();
    expect(tryEnter(second, "a")).toBe("too-many-requests");
    for (let account = 0; account < 96; account++) enter(second, String(account));
    expect(tryEnter(second, "b")).toBe("overloaded");
    deliver();
    expect(tryEnter(first, "b")).toBe("overloaded");
    for (const permit of permits) permit.release();
    deliver();
    enter(second, "a");
  });

  it("counts what the other process held before this one started", () => {
    const { admissions, exchanges, deliver } = makeProcesses(2, 2);
    enter(admissions[0], "a");
    enter(admissions[0], "b").release();
    deliver();
    exchanges[1]?.forget(0);
    exchanges[1]?.receive(0, exchanges[0]?.held() ?? []);
    expect(exchanges[1]?.all).toEqual({ requests: 1, bytes: 100 });
    exchanges[1]?.receive(0, exchanges[0]?.held() ?? []);
    expect(exchanges[1]?.all, "once more of the same").toEqual({ requests: 1, bytes: 100 });
  });

  it("forgets what an ended process held", () => {
    const { admissions, exchanges, deliver } = makeProcesses(2, 2);
    enter(admissions[0], "a");
    enter(admissions[0], "b");
    deliver();
    expect(tryEnter(admissions[1], "c")).toBe("overloaded");
    exchanges[1]?.forget(0);
    enter(admissions[1], "c");
    expect(exchanges[1]?.all).toEqual({ requests: 0, bytes: 0 });
  });

  it("reports no request that has ended in the meantime", () => {
    const { admissions, deliver } = makeProcesses(2, 2);
    enter(admissions[0], "a").release();
    expect(deliver()).toBe(0);
    enter(admissions[0], "a");
    expect(deliver()).toBe(1);
    enter(admissions[0], "a").release();
    expect(deliver()).toBe(0);
  });
});
