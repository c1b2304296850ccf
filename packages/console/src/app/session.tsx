import type { Answer } from "@device-risk-signals/admin-api";
import { type Permission, rolesWith, type Scope, scopeOf } from "@device-risk-signals/admin-api/permissions";
import { createContext, type ReactNode, use } from "react";

export type Session = Answer<"readSession">;

const SessionContext = createContext<Session | undefined>(undefined);

export const SessionProvider = ({ session, children }: { readonly session: Session; readonly children: ReactNode }) => (
  <SessionContext value={session}>{children}</SessionContext>
);

/** The person who is signed in. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("there is no session outside of the shell");
  return session;
}

/** What the person may do with a permission; `undefined`: nothing. The server decides again at each call. */
export const useScope = (permission: Permission): Scope | undefined => scopeOf(permission, useSession().roles);

/** Says which roles have a permission that the person lacks. */
export function Forbidden({ permission, what }: { readonly permission: Permission; readonly what: string }) {
  return (
    <p className="note">
      {what} needs the role {rolesWith(permission).join(" or ")}. You have: {useSession().roles.join(", ")}.
    </p>
  );
}
