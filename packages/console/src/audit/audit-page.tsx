import { useSearch } from "@tanstack/react-router";
import { Forbidden, useScope } from "../app/session.tsx";
import { AuditTabs } from "./audit-tabs.tsx";
import { LogState } from "./log-state.tsx";
import { Reads } from "./reads.tsx";

/** What an auditor asks first: who opened what, and whether the log that says so is complete. */
export function AuditPage() {
  const { verification, days = 7 } = useSearch({ from: "/shell/audit" });
  const canVerify = useScope("audit.verify") !== undefined;
  return (
    <>
      <AuditTabs what="Who opened what, and whether the log that says so is complete." />
      {canVerify ? <LogState id={verification} /> : <Forbidden permission="audit.verify" what="Verifying the log" />}
      <Reads days={days} />
    </>
  );
}
