import { useState } from "react";
import { call, keyOf, queryClient } from "../app/api.ts";
import { isStepUp, StepUp } from "../sign-in/step-up.tsx";
import { ActionDialog } from "../ui/action-dialog.tsx";
import { Foreign } from "../ui/foreign.tsx";
import { type Approval, deciders, titleOf } from "./approval-words.ts";

type Route = "approve" | "deny" | "withdrawApproval";

const HINT = "The audit log keeps it for auditors. Write no names of customers.";

const WORDS = {
  approve: {
    button: "Approve",
    title: "Approve this?",
    reason: { label: "Why (optional)", isRequired: false, hint: HINT },
  },
  deny: { button: "Deny", title: "Deny this?", reason: { label: "Why", isRequired: true, hint: HINT } },
  withdrawApproval: { button: "Withdraw", title: "Withdraw your request?", reason: undefined },
} as const;

interface DecideProps {
  readonly approval: Approval;
  readonly routes: readonly Route[];
  readonly decided: (approval: Approval) => void;
}

export function DecideApproval({ approval, routes, decided }: DecideProps) {
  const [route, setRoute] = useState<Route>();
  const { approval_id, requested_by } = approval;
  const decide = async (chosen: Route, reason: string | undefined): Promise<void> => {
    const given = reason === undefined || chosen === "withdrawApproval" ? {} : { reason };
    const after = await call(chosen, { approval_id, ...given });
    queryClient.setQueryData(keyOf("readApproval", { approval_id }), after);
    await queryClient.invalidateQueries({ queryKey: ["listApprovals"] });
    decided(after);
  };
  return (
    <div className="approval-decision">
      {routes.includes("withdrawApproval") && (
        <p className="quiet">You asked for this: {deciders(approval)} decides.</p>
      )}
      {routes.map((one) => (
        <button
          key={one}
          type="button"
          className={one === "approve" ? "button primary" : "button"}
          onClick={() => setRoute(one)}
        >
          {WORDS[one].button}
        </button>
      ))}
      {route !== undefined && (
        <ActionDialog
          title={WORDS[route].title}
          action={WORDS[route].button}
          failed="The decision was not recorded"
          {...(WORDS[route].reason && { reason: WORDS[route].reason })}
          run={(reason) => decide(route, reason)}
          close={() => setRoute(undefined)}
          explain={(error, again) => isStepUp(error) && <StepUp again={again} />}
        >
          <p>
            <Foreign text={titleOf(approval)} />, asked for by <Foreign text={requested_by} />.{" "}
            {route === "approve" && "It can then be done once, within an hour."}
            {route === "deny" && "A denial is final: the person would have to ask again."}
          </p>
        </ActionDialog>
      )}
    </div>
  );
}
