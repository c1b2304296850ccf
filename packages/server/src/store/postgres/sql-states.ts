/** SQLSTATEs by the names that PostgreSQL gives them. */
export const SQL_STATES = {
  protocolViolation: "08P01",
  datetimeFieldOverflow: "22008",
  invalidParameterValue: "22023",
  uniqueViolation: "23505",
  checkViolation: "23514",
  readOnlySqlTransaction: "25006",
  invalidAuthorizationSpecification: "28000",
  invalidPassword: "28P01",
  invalidCatalogName: "3D000",
  invalidSchemaName: "3F000",
  deadlockDetected: "40P01",
  insufficientPrivilege: "42501",
  undefinedColumn: "42703",
  undefinedObject: "42704",
  duplicateObject: "42710",
  undefinedFunction: "42883",
  undefinedTable: "42P01",
  duplicateDatabase: "42P04",
  diskFull: "53100",
  tooManyConnections: "53300",
  programLimitExceeded: "54000",
  lockNotAvailable: "55P03",
  queryCanceled: "57014",
} as const;

export type SqlStateName = keyof typeof SQL_STATES;

/**
 * No connection (class 08), a login that is refused for now (28), out of resources (53, disk full among them), starting
 * up, shutting down or too slow (57), a system error (58).
 */
const TRANSIENT = /^(08|28|53|57|58)/;

/** No connection, or a server that starts or stops. */
const AWAY_STATES = /^(08|57P)/;

/** Whether waiting may help; a read-only standby may be promoted. */
export const isTransientState = (state: string): boolean =>
  TRANSIENT.test(state) || state === SQL_STATES.readOnlySqlTransaction;

export const isAwayState = (state: string): boolean => AWAY_STATES.test(state);
