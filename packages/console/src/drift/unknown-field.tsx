import { useRead } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { Time } from "../ui/time.tsx";

/** What a page of an event says of a field that the catalog does not know: a review may have accepted it. */
export function UnknownField({ path }: { readonly path: string | undefined }) {
  const scope = useScope("features.governance");
  const { data } = useRead("readOverlay", {}, scope !== undefined && path !== undefined);
  const accepted = data?.overlay.find((one) => one.path === path);
  if (path !== undefined && accepted) return <Accepted path={path} />;
  return <>The catalog does not know this field{data && ", and no review has accepted it"}.</>;
}

function Accepted({ path }: { readonly path: string }) {
  const { data } = useRead("readDrift", { path });
  const decision = data?.decisions.find((one) => one.path === path && one.kind === "accepted");
  return (
    <>
      Accepted in a review
      {decision && (
        <>
          {" "}
          by <Foreign text={decision.decided_by} />, <Time at={decision.decided_at} isShort /> UTC:{" "}
          <Foreign text={decision.reason} />
        </>
      )}
    </>
  );
}
