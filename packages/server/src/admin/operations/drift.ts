import { listDrift as queryDrift } from "../../drift/drift.ts";
import type { Operation } from "./operation.ts";

export const listDrift: Operation<"listDrift"> = async ({ ports }) => {
  const drift = await queryDrift(ports.pool);
  return { answer: { drift: [...drift] }, audit: { detail: { count: drift.length } } };
};
