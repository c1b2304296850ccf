/** SQL that gives a time as RFC 3339 in UTC, to the millisecond; the session must be in UTC. */
export const instantOf = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The same SQL, as a column of that name. */
export const instant = (column: string, name = column): string => `${instantOf(column)} as ${name}`;

/** SQL that gives a time as RFC 3339 in UTC, to the microsecond, as the database has it. */
export const exactInstantOf = (column: string): string => `to_char(${column}, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
