/** Something stands in the way of the embedded PostgreSQL; the message says what, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}
