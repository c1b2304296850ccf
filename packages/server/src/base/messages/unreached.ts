/** Codes of TLS for a certificate whose authority is not known. */
const UNKNOWN_AUTHORITY = /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;

/** The code of a failed `fetch`, if the server has a certificate of an unknown authority. */
export function unknownAuthorityOf(error: unknown): string | undefined {
  const code = ((error as Error | undefined)?.cause as NodeJS.ErrnoException | undefined)?.code;
  return code !== undefined && UNKNOWN_AUTHORITY.test(code) ? code : undefined;
}

/** Says that `fetch` did not reach a server, with the code of its error, and with the cure for an unknown authority. */
export function describeUnreached(code = ""): string {
  const cure = UNKNOWN_AUTHORITY.test(code) ? ": name the file of its authority in NODE_EXTRA_CA_CERTS" : "";
  return `can't be reached${code && ` (${code})`}${cure}`;
}
