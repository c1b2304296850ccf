import { hasProgress, isBytes, isLines, ROUTE_IDS, routeOf } from "@device-risk-signals/admin-api";
import type { CallShape } from "../../packages/admin-api/src/call-shape.ts";

function shapeOf(id: (typeof ROUTE_IDS)[number]): CallShape {
  const route = routeOf(id);
  const query = Object.keys(route.query?.properties ?? {});
  return {
    method: route.method,
    path: route.path,
    ...(query.length > 0 && { query }),
    ...(route.body && { hasBody: true }),
    ...(isBytes(route.answer) && { answer: "bytes" }),
    ...(isLines(route.answer) && { answer: "lines" }),
    ...(hasProgress(route) && { hasProgress: true }),
    ...(route.isRepeatable && { isRepeatable: true }),
  };
}

/** The routes without their schemas, which would be a third of the console's first load. */
export function adminCalls(): string {
  const lines = ROUTE_IDS.map((id) => `  ${id}: ${JSON.stringify(shapeOf(id))},`);
  return [
    "/** Generated from the routes by `npm run generate`. Do not edit. */",
    'import type { CallShape } from "../call-shape.ts";',
    'import type { RouteId } from "../routes.ts";',
    "",
    "export const CALLS: Readonly<Record<RouteId, CallShape>> = {",
    ...lines,
    "};",
    "",
  ].join("\n");
}
