import { ADMIN_PROBLEMS, type AdminProblemCode } from "./problems.ts";
import { PERMISSIONS, ROLE_NAMES, scopeOf } from "./permissions.ts";
import { BASE_PATH, isBytes, isLines, isOrder, type Route } from "./route.ts";
import { ROUTE_IDS, routeOf } from "./routes.ts";
import { order } from "./routes/orders.ts";

type Json = Readonly<Record<string, unknown>>;

/** Problems that every route may answer. */
const COMMON_PROBLEMS: readonly AdminProblemCode[] = [
  "request-invalid",
  "credentials-missing",
  "credentials-invalid",
  "permission-missing",
  "tls-required",
  "too-many-requests",
  "failed",
  "unavailable",
];
const RECENT_SIGN_IN_PROBLEMS: readonly AdminProblemCode[] = ["step-up-required"];
/** Problems that every route may answer whose method is not GET. */
const NON_GET_PROBLEMS: readonly AdminProblemCode[] = ["cross-site", "body-too-large", "media-type-unsupported"];

/** The OpenAPI 3.1 document of the admin API. */
export function adminOpenApiDocument(version: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const id of ROUTE_IDS) {
    const route = routeOf(id);
    (paths[`${BASE_PATH}${route.path}`] ??= {})[route.method.toLowerCase()] = operation(id, route);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Device Risk Signals: admin API",
      version,
      summary: "Reads and governs what the endpoint stores; every access is audited.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The admin listener." }],
    security: [{ adminToken: [] }],
    tags: [...new Set(ROUTE_IDS.map((id) => routeOf(id).tag))].map((name) => ({ name, description: `${name}.` })),
    paths,
    components: {
      securitySchemes: {
        adminToken: { type: "http", scheme: "bearer", description: "An admin token, `drs_adm_…`." },
      },
      schemas: { Problem: PROBLEM },
    },
  };
}

const PROBLEM = {
  type: "object",
  description: "A problem document of RFC 9457.",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    code: { type: "string", description: "Code of an error for operators, where the operation failed with one." },
    errors: {
      type: "array",
      items: {
        type: "object",
        required: ["where", "detail"],
        properties: { where: { type: "string" }, detail: { type: "string" } },
      },
    },
  },
} as const;

function operation(id: string, route: Route): Json {
  const { permission } = route;
  const roles = ROLE_NAMES.filter((role) => scopeOf(permission, [role]) !== undefined);
  const granted = `Permission \`${permission}\` (${PERMISSIONS[permission].meaning}): ${roles.join(", ")}.`;
  return {
    operationId: id,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, granted].filter((part) => part !== undefined).join("\n\n"),
    parameters: [...parameters(route.params, "path"), ...parameters(route.query, "query")],
    ...(route.body && {
      requestBody: { required: true, content: { "application/json": { schema: toPlainJson(route.body) } } },
    }),
    responses: { "200": success(route), ...(isOrder(route) && { "202": PLACED }), ...problems(route) },
  };
}

/** The answer of a call that a worker has not finished yet. */
const PLACED: Json = {
  description:
    "A worker applies the order. At `Location` are its state, its progress and, once it has ended, the answer.",
  headers: { Location: { description: "The order.", required: true, schema: { type: "string" } } },
  content: { "application/json": { schema: JSON.parse(JSON.stringify(order)) } },
};

function parameters(part: Route["params"], location: "path" | "query"): readonly Json[] {
  return Object.entries(part?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: location,
    required: part?.required?.includes(name) ?? false,
    schema: toPlainJson(schema),
  }));
}

function success({ answer }: Route): Json {
  return { description: "Done.", content: contentOf(answer) };
}

function contentOf(answer: Route["answer"]): Json {
  if (isLines(answer)) return { "application/x-ndjson": { schema: toPlainJson(answer.lines) } };
  return isBytes(answer)
    ? { "application/octet-stream": { schema: { type: "string", contentMediaType: "application/json" } } }
    : { "application/json": { schema: toPlainJson(answer) } };
}

/** The statuses of the problems that the route may answer, each with the causes. */
function problems(route: Route): Json {
  const codes = [
    ...COMMON_PROBLEMS,
    ...(route.method === "GET" ? [] : NON_GET_PROBLEMS),
    ...(route.recentSignIn ? RECENT_SIGN_IN_PROBLEMS : []),
    ...(route.problems ?? []),
  ];
  const byStatus = Map.groupBy(codes, (code) => ADMIN_PROBLEMS[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codesOfStatus]) => [
      String(status),
      {
        description: codesOfStatus.map((code) => `\`${code}\`: ${ADMIN_PROBLEMS[code].when}`).join("\n\n"),
        content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
      },
    ]),
  );
}

/** The schema without the library's own members. */
const toPlainJson = (schema: unknown): unknown => JSON.parse(JSON.stringify(schema));
