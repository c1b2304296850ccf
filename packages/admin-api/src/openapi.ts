import { Components, pascalCase } from "./components.ts";
import { ADMIN_PROBLEMS, type AdminProblemCode } from "./problems.ts";
import { PERMISSIONS, rolesWith } from "./permissions.ts";
import { BASE_PATH, hasProgress, isBytes, isLines, LINES_TYPE, type Route } from "./route.ts";
import { ROUTE_IDS, routeOf } from "./routes.ts";

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

/** A line of an answer with progress, as a schema. */
const PROGRESS_LINE = {
  title: "ProgressLine",
  type: "object",
  description:
    "A line of progress, or the last line with the result. A line without members shows that the work continues; one " +
    "comes at least each ten seconds.",
  properties: {
    progress: { type: "string" },
    status: { type: "integer", description: "In the last line: the status of the answer." },
    answer: { description: "In the last line, with the status 200: the answer as in `application/json`." },
    problem: { $ref: "#/components/schemas/Problem" },
  },
};

/** The OpenAPI 3.1 document of the admin API. */
export function adminOpenApiDocument(version: string): Json {
  const components = new Components();
  const paths: Record<string, Record<string, Json>> = {};
  for (const id of ROUTE_IDS) {
    const route = routeOf(id);
    (paths[`${BASE_PATH}${route.path}`] ??= {})[route.method.toLowerCase()] = operation(id, route, components);
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
      ...components.document(),
    },
  };
}

function operation(id: string, route: Route, components: Components): Json {
  const { permission, body } = route;
  const roles = rolesWith(permission);
  const granted = `Permission \`${permission}\` (${PERMISSIONS[permission].meaning}): ${roles.join(", ")}.`;
  const name = pascalCase(id);
  return {
    operationId: id,
    tags: [route.tag],
    summary: route.summary,
    description: [route.description, granted].filter((part) => part !== undefined).join("\n\n"),
    parameters: [...parameters(route.params, "path", components), ...parameters(route.query, "query", components)],
    ...(body && {
      requestBody: {
        required: true,
        content: { "application/json": { schema: components.schema(body, `${name}Body`) } },
      },
    }),
    responses: {
      "200": { description: "Done.", content: contentOf(route, name, components) },
      ...problems(route, components),
    },
  };
}

function parameters(part: Route["params"], location: "path" | "query", components: Components): readonly Json[] {
  return Object.entries(part?.properties ?? {}).map(([name, schema]) =>
    components.parameter({
      name,
      in: location,
      required: part?.required?.includes(name) ?? false,
      schema: components.schema(schema),
    }),
  );
}

function contentOf(route: Route, name: string, components: Components): Json {
  const { answer } = route;
  if (isLines(answer)) return { [LINES_TYPE]: { schema: components.schema(answer.lines, `${name}Line`) } };
  if (isBytes(answer)) {
    return { "application/octet-stream": { schema: { type: "string", contentMediaType: "application/json" } } };
  }
  const json = { "application/json": { schema: components.schema(answer, `${name}Answer`) } };
  return hasProgress(route) ? { ...json, [LINES_TYPE]: { schema: components.schema(PROGRESS_LINE) } } : json;
}

/** The statuses of the problems that the route may answer, each with the causes. */
function problems(route: Route, components: Components): Json {
  const codes = [
    ...COMMON_PROBLEMS,
    ...(route.method === "GET" ? [] : NON_GET_PROBLEMS),
    ...(route.recentSignIn ? RECENT_SIGN_IN_PROBLEMS : []),
    ...(route.problems ?? []),
  ];
  const byStatus = Map.groupBy(codes, (code) => ADMIN_PROBLEMS[code].status);
  return Object.fromEntries([...byStatus].map(([status, ofStatus]) => [String(status), components.problem(ofStatus)]));
}
