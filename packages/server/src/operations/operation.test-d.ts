import type { Operation, Operations } from "./operation.ts";
import type { Ports } from "./ports.ts";

declare function accept(operations: Partial<Operations>): void;
declare function use(port: unknown): void;
declare const ports: Ports<"pool" | "keys.audit">;
declare const keys: Awaited<ReturnType<(typeof ports)["keys"]>>;
declare const addHold: Operation<"addHold", "administration">;
declare const listHolds: Operation<"listHolds", "administration">;
declare const readFeatures: Operation<"readFeatures", "keys.featureSealer">;
declare const listExports: Operation<"listExports", "keys.sealer">;

export const accepted = [use(ports.pool), use(keys.audit), accept({ addHold }), accept({ readFeatures })];

export const rejected = [
  // @ts-expect-error the operation does not name this port
  use(ports.administration),
  // @ts-expect-error the operation names another member of the keys
  use(keys.sealer),
  // @ts-expect-error the operation opens no installation
  use(ports.installation),
  // @ts-expect-error no worker applies the route, so it has no login of the owner
  accept({ listHolds }),
  // @ts-expect-error a route with the access `read` opens no payload
  accept({ listExports }),
];
