/** Starts the example that the argument names, such as `express`, and prints a command that calls it. */
import { CUSTOMER, PAYMENT } from "./host.ts";
import type { StartHost } from "./running-host.ts";

const HOSTS: Readonly<Record<string, () => Promise<StartHost>>> = {
  express: async () => (await import("./express.ts")).startExpress,
  fastify: async () => (await import("./fastify.ts")).startFastify,
  hono: async () => (await import("./hono.ts")).startHono,
  nest: async () => (await import("./nest.ts")).startNest,
  next: async () => (await import("./next.ts")).startNext,
};

const load = HOSTS[process.argv[2] ?? ""];
if (load) {
  const start = await load();
  const { url, close } = await start(process.env, Number(process.env["PORT"] ?? 8080));
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void close());
  process.stdout.write(`Listening on ${url}. One event, to be sent within an hour:\n\n${curl(url)}\n`);
} else {
  process.stderr.write(`Usage: node src/main.ts ${Object.keys(HOSTS).join("|")}\n`);
  process.exitCode = 2;
}

function curl(url: string): string {
  const event = {
    session_id: CUSTOMER.sessionId,
    event_type: "device_intel_collection",
    schema_version: 1,
    collected_at: new Date().toISOString(),
    probes: { os_integrity: { status: "success", data: { isEmulator: false } } },
  };
  const { actionId: action_id, actionType: action_type } = PAYMENT;
  const body = { action_id, action_type, sdk_version: "1.0.0", platform: "android", observations: event };
  return [
    `curl -i ${url}/api/v1/device-signal-events`,
    `-H 'Authorization: Bearer ${CUSTOMER.token}'`,
    `-H 'Idempotency-Key: ${crypto.randomUUID()}'`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body)}'`,
  ].join(" \\\n  ");
}
