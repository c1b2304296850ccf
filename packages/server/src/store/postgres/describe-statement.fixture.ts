import type pg from "pg";

/** Types of a statement by PostgreSQL's names, `[]` for arrays. */
export interface Described {
  readonly parameters: readonly string[];
  readonly columns: Readonly<Record<string, string>>;
}

interface Wire extends pg.Connection {
  parse(query: { text: string; name: string }): void;
  describe(message: { type: "S"; name: string }): void;
  sync(): void;
}

interface Field {
  readonly name: string;
  readonly dataTypeID: number;
}

/** Lets PostgreSQL parse a statement and describe it, without running it. */
class Describe implements pg.Submittable {
  readonly #text: string;
  #parameters: readonly number[] = [];
  #fields: readonly Field[] = [];
  #settle: (error?: Error) => void = () => {};
  #error: Error | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  run(client: pg.Client): Promise<{ parameters: readonly number[]; fields: readonly Field[] }> {
    return new Promise((resolve, reject) => {
      this.#settle = () => {
        if (this.#error) reject(this.#error);
        else resolve({ parameters: this.#parameters, fields: this.#fields });
      };
      client.query(this);
    });
  }

  submit(connection: pg.Connection): void {
    connection.once("parameterDescription", ({ dataTypeIDs }: { dataTypeIDs: readonly number[] }) => {
      this.#parameters = dataTypeIDs;
    });
    const wire = connection as Wire;
    wire.parse({ text: this.#text, name: "" });
    wire.describe({ type: "S", name: "" });
    wire.sync();
  }

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#fields = fields;
  }

  handleError(error: Error): void {
    this.#error = error;
    this.#settle();
  }

  handleReadyForQuery(): void {
    this.#settle();
  }
}

/** @returns a function that describes statements on the connection. */
export async function createStatementDescriber(client: pg.Client): Promise<(text: string) => Promise<Described>> {
  const { rows } = await client.query<{ oid: number; name: string }>(
    `select t.oid::int, case when t.typelem <> 0 and t.typcategory = 'A' then e.typname || '[]' else t.typname::text end as name
      from pg_type t left join pg_type e on e.oid = t.typelem`,
  );
  const names = new Map(rows.map(({ oid, name }) => [oid, name]));
  const typeNameOf = (oid: number): string => names.get(oid) ?? String(oid);
  return async (text) => {
    const { parameters, fields } = await new Describe(text).run(client);
    return {
      parameters: parameters.map(typeNameOf),
      columns: Object.fromEntries(fields.map(({ name, dataTypeID }) => [name, typeNameOf(dataTypeID)])),
    };
  };
}
