import type { Permission } from "@device-risk-signals/admin-api/permissions";
import { type ReactNode, useState } from "react";
import { queryClient } from "../app/api.ts";
import { useScope } from "../app/session.tsx";
import { ActionDialog } from "../ui/action-dialog.tsx";

interface EndButtonProps {
  readonly permission: Permission;
  /** The words of the button in the row, and its name for a reader who does not see the row. */
  readonly label: string;
  readonly name: string;
  readonly title: string;
  readonly children: ReactNode;
  readonly end: () => Promise<unknown>;
}

/** Ends what a row of the lists shows, after a question. */
export function EndButton({ permission, label, name, title, children, end }: EndButtonProps) {
  const [isAsking, setAsking] = useState(false);
  if (useScope(permission) === undefined) return null;
  return (
    <>
      <button type="button" className="button row-action" aria-label={name} onClick={() => setAsking(true)}>
        {label}
      </button>
      {isAsking && (
        <ActionDialog
          title={title}
          action={label}
          failed="It was not ended"
          run={async () => {
            await end();
            await queryClient.invalidateQueries({ queryKey: ["access"] });
          }}
          close={() => setAsking(false)}
        >
          {children}
        </ActionDialog>
      )}
    </>
  );
}
