/** Writes an OpenAPI document as Markdown: operations with their parameters and answers, and the schemas of bodies. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: { readonly description?: string };
}

interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, { readonly schema: Reference }>>;
}

interface Reference {
  readonly $ref?: string;
}

interface Operation {
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Pick<Answer, "content">;
  readonly responses: Readonly<Record<string, Answer | Reference>>;
}

export interface OpenApi {
  readonly info: { readonly summary: string; readonly description?: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly parameters?: Readonly<Record<string, Parameter>>;
    readonly responses?: Readonly<Record<string, Answer>>;
  };
}

/** A longer schema is left out; readers find it in the document itself and in the data dictionary. */
const MAX_SCHEMA_CHARACTERS = 4_000;

/** @param file the name of the document on the site. */
export function openapiPage(title: string, file: string, { info, tags, paths, components }: OpenApi): string {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ title: `${method.toUpperCase()} ${path}`, ...operation })),
  );

  function section({ title, summary, description, parameters = [], requestBody, responses }: Titled): string[] {
    const body = typeOf(requestBody?.content);
    return [
      `### \`${title}\``,
      `${summary}.`,
      description ?? "",
      ...parameters.map((one) =>
        parameterLine("name" in one ? one : (components.parameters?.[nameOf(one)] as Parameter)),
      ),
      body && `**Body**: ${body}`,
      Object.entries(responses)
        .map(([status, one]) => `- **${status}** ${"description" in one ? answerText(one) : linkTo(one)}`)
        .join("\n"),
    ];
  }

  return [
    `# ${title}`,
    info.description ?? info.summary,
    `The whole document is <a href="/${file}" target="_self">${file}</a>.`,
    ...tags.flatMap(({ name }) => [
      `## ${name}`,
      ...operations.filter((operation) => operation.tags.includes(name)).flatMap(section),
    ]),
    ...(components.responses ? ["## Answers"] : []),
    ...Object.entries(components.responses ?? {}).flatMap(([name, answer]) => [`### ${name}`, answerText(answer)]),
    "## Schemas",
    ...Object.entries(components.schemas).flatMap(([name, schema]) => [`### ${name}`, shown(schema)]),
  ]
    .filter((paragraph) => paragraph !== "")
    .join("\n\n");
}

type Titled = Operation & { readonly title: string };

const nameOf = ({ $ref = "" }: Reference): string => $ref.slice($ref.lastIndexOf("/") + 1);

const linkTo = (reference: Reference): string => `[${nameOf(reference)}](#${nameOf(reference).toLowerCase()})`;

function parameterLine({ name, in: place, required, description, schema }: Parameter): string {
  return `**\`${name}\`** (${place}, ${required ? "required" : "optional"}). ${description ?? schema.description ?? ""}`;
}

const answerText = ({ description, content }: Answer): string => `${description} ${typeOf(content)}`;

function typeOf(content: Answer["content"]): string {
  return Object.entries(content ?? {})
    .map(([type, { schema }]) => (schema.$ref ? `\`${type}\`: ${linkTo(schema)}` : `\`${type}\``))
    .join(", ");
}

function shown(schema: unknown): string {
  const text = JSON.stringify(schema, undefined, 2);
  if (text.length > MAX_SCHEMA_CHARACTERS) return "See the [data dictionary](/docs/data-dictionary) and the document.";
  return `\`\`\`json\n${text}\n\`\`\``;
}
