import type { Operation } from "./operation.ts";

export const readSession: Operation<"readSession"> = async ({ caller }) => {
  const { person, roles, via, expiresAt } = caller;
  return { answer: { person, roles: [...roles], via, expires_at: expiresAt ?? null } };
};
