import type { Static, TObject, TSchema } from "typebox";
import type { Permission } from "./permissions.ts";
import type { AdminProblem, AdminProblemCode } from "./problems.ts";

export const BASE_PATH = "/admin/v1";

/** The exact bytes of a raw event, as `application/octet-stream`. */
export interface BytesAnswer {
  readonly bytes: true;
}

/** Lines of JSON, as `application/x-ndjson`: a stream of any length. */
export interface LinesAnswer {
  /** The schema of each line. */
  readonly lines: TSchema;
}

/**
 * One route of the admin API. Path, query and body have no member name in common, because a call takes one flat object.
 */
export interface Route {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below `BASE_PATH`; a parameter is `{name}`. */
  readonly path: `/${string}`;
  readonly tag: string;
  /** One line. */
  readonly summary: string;
  readonly description?: string;
  readonly permission: Permission;
  /** The operation in audit entries. */
  readonly operation: string;
  /**
   * Whether a person must have signed in recently. A caller with an admin token need not, because a token has no
   * sign-in.
   */
  readonly recentSignIn?: true;
  /**
   * The access to the database that the operation needs. `read` writes nothing, except the audit entry of a call
   * through the API. `audited-read` also writes an audit entry for a command on the database. `change` changes data.
   */
  readonly access: "read" | "audited-read" | "change";
  /**
   * The operation reads payloads or destroys data, so a command on an external database needs `--break-glass`.
   * `by-plan`: a command needs it only if the dry run of the operation says so.
   */
  readonly breakGlass?: true | "by-plan";
  /**
   * The operation needs a login that only a worker has: to change data that only the owner may change, or to read every
   * payload.
   */
  readonly appliedBy?: "worker";
  /** The operation is idempotent, so a client repeats a call that was interrupted. */
  readonly isRepeatable?: true;
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TObject;
  /** Maximum size of the body, if it differs from the default of all routes. */
  readonly maxBodyBytes?: number;
  readonly answer: TSchema | BytesAnswer | LinesAnswer;
  /** Problems in addition to those of every route. */
  readonly problems?: readonly AdminProblemCode[];
}

/**
 * Members that several routes for changes share. A worker applies the call. The role privacy may call the route,
 * unless the route names another permission.
 */
export const GOVERNANCE_CHANGE = {
  method: "POST",
  permission: "governance.change",
  access: "change",
  appliedBy: "worker",
} as const;

type Part<R extends Route, Name extends "params" | "query" | "body"> = R[Name] extends TObject
  ? Static<R[Name]>
  : unknown;

/** What a call of the route takes: parameters of the path, of the query and members of the body. */
export type InputOf<R extends Route> = Part<R, "params"> & Part<R, "query"> & Part<R, "body">;

export type AnswerOf<R extends Route> = R["answer"] extends BytesAnswer
  ? Uint8Array
  : R["answer"] extends LinesAnswer
    ? AsyncIterable<Static<R["answer"]["lines"]>>
    : R["answer"] extends TSchema
      ? Static<R["answer"]>
      : never;

export type InputsOf<Routes extends Readonly<Record<string, Route>>> = {
  readonly [Id in keyof Routes]: InputOf<Routes[Id]>;
};
export type AnswersOf<Routes extends Readonly<Record<string, Route>>> = {
  readonly [Id in keyof Routes]: AnswerOf<Routes[Id]>;
};

export const isLines = (answer: Route["answer"]): answer is LinesAnswer => "lines" in answer;

/** Whether a call of the route may take long, and can answer with its progress. */
export const hasProgress = ({ appliedBy, answer }: Route): boolean => appliedBy === "worker" && !isLines(answer);

/** The media type of lines of JSON: of an answer that is a stream, and of an answer with progress. */
export const LINES_TYPE = "application/x-ndjson";

/**
 * A line of an answer with progress, which a caller requests by `Accept: application/x-ndjson`. A line without members
 * shows that the work continues; one comes at least each ten seconds. The last line has the result.
 */
export type ProgressLine =
  | { readonly progress?: string }
  | { readonly status: 200; readonly answer: unknown }
  | { readonly status: number; readonly problem: AdminProblem };

export const isBytes = (answer: Route["answer"]): answer is BytesAnswer => "bytes" in answer;

/** Names of the parameters in a path. */
export const pathParameters = (path: string): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
