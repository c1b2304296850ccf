/**
 * SQL of what may be read of `kept_event`: what is not erased, and within its period (by the database's clock) or under
 * a hold. It holds for every read, from that moment: when the row itself goes, nobody need know.
 *
 * @param event the name that the query gives the events.
 */
export const isLive = (event: string): string =>
  `(${event}.hold_id is not null or not is_erased(${event}.key_id)) and ((${event}.erased_by is null
      and coalesce(${event}.received_at + (select raw_retention from purpose where code = ${event}.purpose), 'infinity') > now())
    or is_held(${event}.account, ${event}.action_id, ${event}.event_id))`;
