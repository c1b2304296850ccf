import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { send } from "../../../e2e/support/client.ts";
import { sharedDatabase, type TestDatabase } from "../../../e2e/support/database.ts";
import { embeddingContract } from "./embedding.contract.ts";
import { startExpress } from "./express.ts";
import { startFastify } from "./fastify.ts";
import { startHono } from "./hono.ts";
import { startNest } from "./nest.ts";
import { startNext } from "./next.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await sharedDatabase();
});

afterAll(() => database.close());

describe.each([
  { name: "Express", start: startExpress, authorizations: "all" as const },
  { name: "Fastify", start: startFastify, authorizations: "all" as const },
  { name: "Hono", start: startHono, authorizations: "all" as const },
  { name: "Nest", start: startNest, authorizations: "all" as const },
  { name: "Next", start: startNext, authorizations: "first" as const },
])("the endpoint in $name", (embedding) => {
  embeddingContract(embedding, () => database);
});

describe.each([
  { name: "Express", start: startExpress },
  { name: "Fastify", start: startFastify },
  { name: "Hono", start: startHono },
])("a host of the endpoint with $name", ({ start }) => {
  test("still parses the bodies of its own routes", async () => {
    const { url, close } = await start(await database.environment());
    const headers = { "Content-Type": "application/json" };
    const answer = await send({ url, path: "/orders", headers, body: '{"amount": 12.5}' });
    expect(answer).toMatchObject({ status: 201, json: { amount: 12.5 } });
    await close();
  });
});
