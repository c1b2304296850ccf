/** An event of the account `customer-1`, which roles read through the admin API. */
import { afterAll, beforeAll } from "vitest";
import { Past, type PastEvent } from "../../../../../e2e/support/past-event.ts";
import type { TestSystem } from "../../../../../e2e/support/test-system.ts";

export const OBSERVATIONS =
  '{"probes": {"network": {"status": "success", "data": {"isVpnActive": false, "wifiSsid": "home"}}}, "n": 1.0}';

/** An id that no row has. */
export const NO_ID = "019a0000-0000-7000-8000-000000000000";

export interface StoredEvent {
  /** Stores more events. */
  readonly past: Past;
  readonly event: PastEvent;
}

export function useStoredEvent(scene: TestSystem): StoredEvent {
  let past: Past;
  let event: PastEvent;
  beforeAll(async () => {
    past = new Past(scene.system);
    event = await past.store(0, { account: "customer-1", sessionId: "session-1" }, OBSERVATIONS);
  });
  afterAll(() => past?.close());
  return {
    get past() {
      return past;
    },
    get event() {
      return event;
    },
  };
}
