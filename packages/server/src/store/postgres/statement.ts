import type { ClientBase, QueryResult } from "pg";
import type { Executor } from "./executor.ts";

/** What the driver gives for columns, by PostgreSQL's names of their types. */
interface DriverColumns {
  bool: boolean;
  bytea: Buffer;
  float8: number;
  int4: number;
  /** Counts stay below 2^53. */
  int8: number;
  jsonb: unknown;
  name: string;
  numeric: string;
  text: string;
  /** Text, to the microsecond. */
  timestamptz: string;
  uuid: string;
}

/** What the driver takes for parameters, by the names of their types. */
interface DriverParameters {
  bool: boolean;
  bytea: Buffer;
  date: string;
  float8: number;
  int4: number;
  int8: number;
  interval: string;
  jsonb: string | object;
  name: string;
  numeric: string | number;
  text: string;
  timestamptz: string;
  uuid: string;
}

/** A type, `?` if it may be null, `[]` for an array. */
type Named<Types> = keyof Types | `${keyof Types & string}[]`;
export type ColumnType = Named<DriverColumns> | `${Named<DriverColumns>}?`;
export type ParameterType = Named<DriverParameters> | `${Named<DriverParameters>}?`;

type ColumnOf<Type> =
  Type extends Narrowed<infer Value>
    ? Value
    : Type extends `${infer Name}?`
      ? ColumnOf<Name> | null
      : Type extends `${infer Name}[]`
        ? ColumnOf<Name>[]
        : Type extends keyof DriverColumns
          ? DriverColumns[Type]
          : never;

/** An array may come in PostgreSQL's binary format, as `binary-array.ts` makes it. */
type ParameterOf<Type> = Type extends `${infer Name}?`
  ? ParameterOf<Name> | null
  : Type extends `${infer Name}[]`
    ? readonly ParameterOf<Name>[] | Buffer
    : Type extends keyof DriverParameters
      ? DriverParameters[Type]
      : never;

/** A column with fewer possible values than its PostgreSQL type, such as the words of a vocabulary. */
export interface Narrowed<Value> {
  readonly type: ColumnType;
  readonly value?: Value;
}

export const narrowed = <Value>(type: ColumnType): Narrowed<Value> => ({ type });

export type Columns = Readonly<Record<string, ColumnType | Narrowed<unknown>>>;
export type RowOf<Of extends Columns> = { -readonly [Name in keyof Of]: ColumnOf<Of[Name]> };
export type ValuesOf<Of extends readonly ParameterType[]> = { readonly [Index in keyof Of]: ParameterOf<Of[Index]> };

/** SQL with the types of its parameters and columns, which `statements.test.ts` compares with the migrated schema. */
export interface Statement<Values extends readonly unknown[], Row> {
  readonly text: string;
  /** The types of its parameters. If the text is composed when it runs, the types of its first parameters. */
  readonly parameters: readonly ParameterType[];
  /** The types of its columns; `undefined` where its rows are not read. */
  readonly columns: Columns | undefined;
  /** The name under which each connection prepares it once. */
  readonly name?: string;
  /** Exists for the compiler only. */
  readonly types?: { readonly values: Values; readonly row: Row };
}

/** A text that is composed when it runs, and its values. */
export interface ComposedQuery<Row> {
  readonly text: string;
  readonly values: unknown[];
  readonly types?: { readonly row: Row };
}

/** Every statement of the modules that are loaded, and a sample of each text that is composed when it runs. */
export const STATEMENTS: Statement<readonly unknown[], unknown>[] = [];

/** Declares a statement, at the top level of a module. */
export function sql<
  const Parameters extends readonly ParameterType[] = readonly [],
  const Of extends Columns = Readonly<Record<string, never>>,
>(text: string, parameters?: Parameters, columns?: Of): Statement<ValuesOf<Parameters>, RowOf<Of>> {
  const statement = { text, parameters: parameters ?? [], columns };
  STATEMENTS.push(statement);
  return statement;
}

/**
 * Declares a statement whose text is composed when it runs, at the top level of a module.
 * @param samples arguments of `compose` that show each form of the text.
 * @param parameters the types of the first parameters, if all forms of the text have them in common.
 */
export function composed<Arguments extends readonly unknown[], const Of extends Columns>(
  compose: (...args: Arguments) => Omit<ComposedQuery<unknown>, "types">,
  columns: Of,
  samples: readonly Arguments[],
  parameters: readonly ParameterType[] = [],
): (...args: Arguments) => ComposedQuery<RowOf<Of>> {
  for (const sample of samples) STATEMENTS.push({ text: compose(...sample).text, parameters, columns });
  return compose;
}

export type ParametersOf<Values extends readonly unknown[]> = Values extends readonly []
  ? [values?: Values]
  : [values: Values];

/** The values that a statement takes. */
export type ParametersOfStatement<Of> = Of extends Statement<infer Values, unknown> ? Values : never;

/**
 * Declares a statement that a connection prepares once. After a few runs PostgreSQL keeps its plan, which reads with any
 * values: worth it where planning takes longer than reading, as over many partitions.
 */
export const prepared = <const Parameters extends readonly ParameterType[], const Of extends Columns>(
  name: string,
  text: string,
  parameters: Parameters,
  columns: Of,
): Statement<ValuesOf<Parameters>, RowOf<Of>> => ({ ...sql(text, parameters, columns), name });

/** Runs a statement. */
export function query<Values extends readonly unknown[], Row>(
  executor: Executor,
  { name, text }: Statement<Values, Row>,
  ...[values]: ParametersOf<Values>
): Promise<QueryResult<Row & object>> {
  return executor.query(name === undefined ? text : { name, text }, values);
}

/** Runs a statement that always returns one row, and returns this row. */
export async function queryRow<Values extends readonly unknown[], Row>(
  executor: Executor,
  statement: Statement<Values, Row>,
  ...values: ParametersOf<Values>
): Promise<Row & object> {
  const { rows } = await query(executor, statement, ...values);
  if (!rows[0]) throw new Error(`a statement returned no row: ${statement.text.trim()}`);
  return rows[0];
}

/** Runs a statement whose text was composed. */
export function queryComposed<Row>(
  executor: Executor,
  { text, values }: ComposedQuery<Row>,
): Promise<QueryResult<Row & object>> {
  return executor.query(text, values);
}

/** Runs a statement that the connection prepares once, under a name. */
export function queryPrepared<Values extends readonly unknown[], Row>(
  client: Pick<ClientBase, "query">,
  name: string,
  { text }: Statement<Values, Row>,
  ...[values]: ParametersOf<Values>
): Promise<QueryResult<Row & object>> {
  return client.query({ name, text, values: values as unknown as unknown[] });
}
