/**
 * SQL of what is past its period, by the database's clock. What this says of a row holds for every read of `event`, from
 * the moment it is past: when the row itself goes, nobody need know.
 */
export const isLive = (table = "event"): string =>
  `coalesce(${table}.received_at + (select raw_retention from purpose where code = ${table}.purpose), 'infinity') > now()`;
