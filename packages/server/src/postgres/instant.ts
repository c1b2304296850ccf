/** SQL that gives a time as RFC 3339 in UTC, to the millisecond; the session must be in UTC. */
export const instant = (column: string, name = column): string =>
  `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as ${name}`;
