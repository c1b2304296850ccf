import { setTimeout as sleep } from "node:timers/promises";
import type { AdminClient } from "../../../packages/admin-api/src/client.ts";
import type { FilledServer } from "../filled-server.ts";
import { pauseAfter } from "../../../packages/console/src/live/tail.ts";
import { median } from "../median.ts";
import { load } from "../scene.ts";

const TAILS = 10;
const SECONDS = 8;
const ROUNDS = 7;
const OVERLAP_MS = 5_000;

/** @returns events a second at saturation with ten tails open ÷ without: the median of alternating rounds. */
export async function measureTailsBesideIngestion(
  client: AdminClient,
  target: FilledServer["target"],
): Promise<number> {
  const perSecond = async (): Promise<number> => {
    const { stored, seconds } = await load({ ...target, connections: 64, seconds: SECONDS, rate: 0 });
    return stored / seconds;
  };
  await perSecond();
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const first = round % 2 === 0 ? await besideTails(client, perSecond) : await perSecond();
    const second = round % 2 === 0 ? await perSecond() : await besideTails(client, perSecond);
    ratios.push(round % 2 === 0 ? first / second : second / first);
  }
  return median(ratios);
}

async function besideTails<Result>(client: AdminClient, work: () => Promise<Result>): Promise<Result> {
  let isEnded = false;
  const tails = Array.from({ length: TAILS }, (_, index) => follow(client, index, () => isEnded));
  const result = await work();
  isEnded = true;
  await Promise.all(tails);
  return result;
}

/** Polls as the live view does. */
async function follow(client: AdminClient, index: number, isEnded: () => boolean): Promise<void> {
  await sleep((1_000 / TAILS) * index);
  let newest = Date.now();
  while (!isEnded()) {
    const began = Date.now();
    const { events } = await client.call("tailEvents", { since: new Date(newest - OVERLAP_MS).toISOString() });
    newest = Date.parse(events[0]?.received_at ?? new Date(newest).toISOString());
    await sleep(pauseAfter(Date.now() - began));
  }
}
