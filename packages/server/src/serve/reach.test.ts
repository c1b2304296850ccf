import { expect, test } from "vitest";
import type { Config } from "../base/config/config.ts";
import { reachOf } from "./reach.ts";

interface Given {
  readonly embedded?: boolean;
  readonly host?: string;
  readonly certFile?: string;
  readonly publicUrl?: string;
}

const reach = ({ embedded = true, host = "127.0.0.1", certFile, publicUrl }: Given): unknown =>
  reachOf({ embedded, service: { admin: { host, publicUrl, tls: { certFile } } } } as unknown as Config);

test("people sign in by a link on loopback, with the embedded database and without TLS", () => {
  expect(reach({})).toBe("loopback");
  expect(reach({ host: "::1" })).toBe("loopback");
});

test.each<[string, Given]>([
  ["an external database", { embedded: false }],
  ["an address that others reach", { host: "0.0.0.0" }],
  ["TLS", { certFile: "server.pem" }],
])("no person signs in by a link with %s", (_, given) => {
  expect(reach(given)).toBeUndefined();
});

test("people sign in at the public address, below the path of its proxy", () => {
  const publicUrl = "https://drs.example/console/";
  expect(reach({ publicUrl })).toEqual({ origin: "https://drs.example", prefix: "/console" });
});
