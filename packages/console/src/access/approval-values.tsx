import { Data } from "../ui/data.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { type Approval, inOrder, memberNames } from "./approval-words.ts";

/** The plan or the parameters of an approval: what says something first, and then what is zero in one line. */
export function ApprovalValues({ approval, values }: { readonly approval: Approval; readonly values: unknown }) {
  const { members, zero } = inOrder(approval, values);
  return (
    <>
      <Data value={members} nameOf={memberNames(approval)} />
      {zero.length > 0 && (
        <p className="quiet small approval-zero">
          None: <Foreign text={zero.map((name) => name.charAt(0).toLowerCase() + name.slice(1)).join("; ")} />.
        </p>
      )}
    </>
  );
}
