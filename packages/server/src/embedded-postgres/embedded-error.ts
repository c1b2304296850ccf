/** The embedded PostgreSQL can't start or run; the message says why, and what to do. */
export class EmbeddedPostgresError extends Error {
  override readonly name = "EmbeddedPostgresError";
}
