import { describeConfig } from "../base/config/config.ts";
import { type Examined, examine } from "./doctor.ts";
import { type CapacityParts, examineCapacity } from "./capacity.ts";
import type { Operation } from "./operation.ts";

export const readHealth: Operation<"readHealth", `installation.${keyof Examined}`> = async ({ ports }) => {
  const findings = await examine(await ports.installation());
  const failed = findings.filter(({ ok }) => !ok).length;
  return { answer: { findings: [...findings] }, audit: { detail: { failed } } };
};

export const readCapacity: Operation<"readCapacity", keyof CapacityParts> = async ({ ports }) => {
  const answer = await examineCapacity(ports);
  return { answer, audit: { detail: { days: answer.disk.days } } };
};

export const readConfiguration: Operation<"readConfiguration", "config" | "environment"> = async ({ ports }) => ({
  answer: { settings: [...describeConfig(ports.config, ports.environment)] },
  audit: {},
});
