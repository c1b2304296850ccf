import { describeConfig } from "../base/config/config.ts";
import { examine } from "./doctor.ts";
import type { Operation } from "./operation.ts";

export const readHealth: Operation<"readHealth"> = async ({ ports }) => {
  const findings = await examine(await ports.installation());
  const failed = findings.filter(({ ok }) => !ok).length;
  return { answer: { findings: [...findings] }, audit: { detail: { failed } } };
};

export const readConfiguration: Operation<"readConfiguration"> = async ({ ports: { config, environment } }) => ({
  answer: { settings: [...describeConfig(config, environment)] },
  audit: {},
});
