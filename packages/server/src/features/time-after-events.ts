/**
 * Composes the SQL of a time that is later than the receipt of every event of a purpose so far. It is later than the
 * present if a server received events with a clock that was ahead, or if the clock was set back since.
 * @param purpose the SQL of the purpose's code.
 */
export const timeAfterEvents = (purpose: string): string =>
  `greatest(wall_clock_time(), (select max(e.received_at) + interval '1 millisecond' from event e
    where e.purpose = ${purpose} and e.received_at > transaction_time()))`;
