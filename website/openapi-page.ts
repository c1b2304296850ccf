/** Writes the OpenAPI document as Markdown: operations with their parameters and answers, and the schemas of bodies. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
}

interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Pick<Answer, "content">;
  readonly responses: Readonly<Record<string, Answer>>;
}

export interface OpenApi {
  readonly info: { readonly title: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
}

/** A longer schema is left out; readers find it in the document itself and in the data dictionary. */
const MAX_SCHEMA_CHARACTERS = 4_000;

export function openapiPage({ info, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(`${method.toUpperCase()} ${path}`, operation)),
  );
  const schemas = Object.entries(components.schemas).flatMap(([name, schema]) => [
    "",
    `### ${name}`,
    "",
    shown(schema),
  ]);
  return [
    "# HTTP API",
    "",
    info.description,
    "",
    'The whole document is <a href="/openapi.json" target="_self">openapi.json</a>; a server has it at `/api/v1/openapi.json`.',
    ...operations.flat(),
    "",
    "## Schemas",
    ...schemas,
    "",
  ].join("\n");
}

function section(title: string, { summary, description, parameters, requestBody, responses }: Operation): string[] {
  const body = typeOf(requestBody?.content);
  return [
    "",
    `## \`${title}\``,
    "",
    `${summary}.`,
    ...(description === undefined ? [] : ["", description]),
    ...(parameters ?? []).flatMap((parameter) => ["", parameterLine(parameter)]),
    ...(body === "" ? [] : ["", `**Body**: ${body}`]),
    ...Object.entries(responses).flatMap(([status, answer]) => ["", `### ${status}`, "", answerText(answer)]),
  ];
}

function parameterLine({ name, in: place, required, description = "" }: Parameter): string {
  return `**\`${name}\`** (${place}, ${required ? "required" : "optional"}). ${description}`;
}

function answerText({ description, content }: Answer): string {
  const type = typeOf(content);
  return type === "" ? description : `${description}\n\n${type}`;
}

function typeOf(content: Answer["content"]): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => {
      const name = schema.$ref?.split("/").at(-1);
      return name === undefined ? `\`${type}\`` : `\`${type}\`: [${name}](#${name.toLowerCase()})`;
    })
    .join(", ");
}

function shown(schema: unknown): string {
  const text = JSON.stringify(schema, undefined, 2);
  if (text.length > MAX_SCHEMA_CHARACTERS)
    return "See the [data dictionary](/docs/data-dictionary) and `openapi.json`.";
  return `\`\`\`json\n${text}\n\`\`\``;
}
