/** What a client needs to know about a route to call it. */
export interface CallShape {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below `BASE_PATH`; a parameter is `{name}`. */
  readonly path: string;
  /** Members of the input that are parameters of the query. */
  readonly query?: readonly string[];
  readonly hasBody?: true;
  /** Default: one JSON value. */
  readonly answer?: "bytes" | "lines";
  /** Whether a call may take long, and can answer with its progress. */
  readonly hasProgress?: true;
  readonly isRepeatable?: true;
}
