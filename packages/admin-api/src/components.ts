import { ADMIN_PROBLEMS, type AdminProblemCode } from "./problems.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * The parts of the OpenAPI document that have a name, so that a client generated from it has named types and the
 * document says everything once: schemas with a title, parameters, and answers with problems.
 */
export class Components {
  readonly #schemas = new Map<string, unknown>([["Problem", PROBLEM]]);
  readonly #parameters = new Map<string, Json>();
  readonly #responses = new Map<string, Json>();

  document(): Json {
    return {
      parameters: Object.fromEntries(this.#parameters),
      responses: Object.fromEntries(this.#responses),
      schemas: Object.fromEntries([...this.#schemas].toSorted(([one], [other]) => (one < other ? -1 : 1))),
    };
  }

  /**
   * The schema, in which each schema with a title is a reference. @param name the name of the schema if it has no title.
   */
  schema(schema: unknown, name?: string): unknown {
    // Without the members that only the library reads.
    return this.#named(JSON.parse(JSON.stringify(schema)), name);
  }

  /** A reference to the parameter. If another parameter has its name, the parameter itself. */
  parameter(parameter: Json & { readonly name: string }): Json {
    const key = pascalCase(parameter.name);
    const known = this.#parameters.get(key) ?? parameter;
    if (JSON.stringify(known) !== JSON.stringify(parameter)) return parameter;
    this.#parameters.set(key, parameter);
    return { $ref: `#/components/parameters/${key}` };
  }

  /** A reference to the answer that says one of these problems, which have one status. */
  problem(codes: readonly AdminProblemCode[]): Json {
    const key = codes.map(pascalCase).join("Or");
    this.#responses.set(key, {
      description: codes.map((code) => `\`${code}\`: ${ADMIN_PROBLEMS[code].when}`).join("\n\n"),
      content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
    });
    return { $ref: `#/components/responses/${key}` };
  }

  #named(value: unknown, name?: string): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#named(each));
    if (typeof value !== "object" || value === null) return value;
    const { title = name, ...rest } = value as Json;
    const schema = Object.fromEntries(
      Object.entries(rest).map(([key, member]) => [
        key,
        key === "properties" ? this.#members(member) : this.#named(member),
      ]),
    );
    if (typeof title !== "string") return schema;
    const known = this.#schemas.get(title);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema)) {
      throw new TypeError(`two schemas have the title ${title}`);
    }
    this.#schemas.set(title, schema);
    return { $ref: `#/components/schemas/${title}` };
  }

  /** The schemas of the members of an object, one of which may be called `title`. */
  #members(members: unknown): Json {
    return Object.fromEntries(Object.entries(members as Json).map(([key, schema]) => [key, this.#named(schema)]));
  }
}

export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|[-_])([a-z])/g, (_, letter: string) => letter.toUpperCase());

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
    approval_id: {
      type: "string",
      description: "The approval that the operation needs, with the code `approval-needed`.",
    },
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
