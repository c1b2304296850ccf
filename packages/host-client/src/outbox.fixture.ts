/** An outbox for tests, with the storage and the client of an app. */
import { createOutbox, type Dropped, type OutboxOptions, type OutboxStorage } from "./index.ts";
import { ACTION, type Answering, clientWith, event, type Reply, response, stored } from "./sending.fixture.ts";

export const START = Date.parse("2026-03-01T12:00:00Z");
export const DAY_MS = 86_400_000;

export type Items = Map<string, string>;

/** Starts an app with an outbox. Events of the outbox are in `items`, which a later start can use. */
export function start(
  items: Items,
  answers: readonly (Reply | Answering)[],
  options: Partial<OutboxOptions> = {},
  storage: Partial<OutboxStorage> = {},
) {
  const { client, requests } = clientWith(answers, { maxAttempts: 1 });
  const dropped: Dropped[] = [];
  const outbox = createOutbox({
    client,
    storage: {
      getItem: async (name) => items.get(name) ?? null,
      setItem: async (name, value) => void items.set(name, value),
      removeItem: async (name) => void items.delete(name),
      ...storage,
    },
    onDropped: (one) => dropped.push(one),
    ...options,
  });
  const send = (collected = event()) => outbox.send({ action: ACTION, event: collected });
  return { outbox, requests, dropped, send };
}

export const keysOf = (requests: readonly { init: { headers: Record<string, string> } }[]): (string | undefined)[] =>
  requests.map(({ init }) => init.headers["Idempotency-Key"]);

/** An answer that `fetch` gives only after `open` was called. */
export function gate(): { answer: Answering; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { answer: async () => (await opened, response(stored)), open };
}
