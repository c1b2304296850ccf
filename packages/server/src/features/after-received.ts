/**
 * An expression: a time after all events of a purpose that were received so far. It is later than the present if a server
 * received events with a clock that was ahead, or if the clock was set back since.
 * @param purpose the expression of its code.
 */
export const afterReceived = (purpose: string): string =>
  `greatest(wall_clock_time(), (select max(e.received_at) + interval '1 millisecond' from event e
    where e.purpose = ${purpose} and e.received_at > transaction_time()))`;
