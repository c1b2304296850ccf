/**
 * The recipe: what a backend team would write today without this project. It uses Express 5 and `pg`. Each request is
 * one INSERT into a table with a `jsonb` payload, with `on conflict do nothing` for the idempotency key. A map of
 * tokens authenticates. The recipe has none of the endpoint's guarantees: no exact bytes, no encryption, no audit, no
 * canonical comparison, no freshness, no actions.
 */
import { randomUUID } from "node:crypto";
import { createRequire } from "node:module";
import type { Express, RequestHandler } from "express";
import pg from "pg";

// Only `tools` installs Express.
const require = createRequire(new URL("../../tools/package.json", import.meta.url));
const express = require("express") as (() => Express) & { json(options: object): RequestHandler };

const SCHEMA = `
  create table device_signal_event (
    event_id uuid primary key,
    idempotency_key text not null unique,
    account text not null,
    action_id text not null,
    action_type text not null,
    session_id text not null,
    sdk_version text not null,
    platform text not null,
    app_version text not null,
    collected_at timestamptz not null,
    received_at timestamptz not null default now(),
    payload jsonb not null
  );
  create index on device_signal_event (account, received_at);`;

const INSERT = `insert into device_signal_event (event_id, idempotency_key, account, action_id, action_type, session_id,
    sdk_version, platform, app_version, collected_at, payload)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  on conflict (idempotency_key) do nothing returning event_id`;

interface Body {
  action_id: string;
  action_type: string;
  sdk_version: string;
  platform: string;
  app_version: string;
  observations: { session_id: string; event_type: string; schema_version: number; collected_at: string };
}

const [url = "", token = ""] = process.argv.slice(2);
const tokens = new Map([[token, "bench"]]);
const pool = new pg.Pool({ connectionString: url, max: 20 });
await pool.query(SCHEMA);

const app = express();
app.use(express.json({ limit: "256kb" }));
app.post("/api/v1/device-signal-events", async (request, response) => {
  const account = tokens.get((request.get("authorization") ?? "").replace("Bearer ", ""));
  const key = request.get("idempotency-key");
  if (account === undefined) return void response.status(401).json({ detail: "unauthorized" });
  if (key === undefined) return void response.status(400).json({ detail: "Idempotency-Key is required" });
  const body = request.body as Body;
  const event = body.observations;
  if (event.event_type !== "device_intel_collection" || event.schema_version !== 1) {
    return void response.status(400).json({ detail: "invalid event" });
  }
  const values = [
    randomUUID(),
    key,
    account,
    body.action_id,
    body.action_type,
    event.session_id,
    body.sdk_version,
    body.platform,
    body.app_version,
    event.collected_at,
    JSON.stringify(event),
  ];
  const { rows } = await pool.query<{ event_id: string }>(INSERT, values);
  const created = rows[0];
  if (created) return void response.status(201).json({ event_id: created.event_id, created: true });
  const found = await pool.query<{ event_id: string }>(
    "select event_id from device_signal_event where idempotency_key = $1",
    [key],
  );
  return void response.status(200).json({ event_id: found.rows[0]?.event_id, created: false });
});

const server = app.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
