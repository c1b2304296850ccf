/** A server that rejects all it can: binding enforced, impatient, and not throttled, so that each case is its own. */
export const REJECTING_SERVER = {
  DRS_SESSION_BINDING: "enforce",
  DRS_REQUEST_TIMEOUT: "2s",
  DRS_THROTTLE_RATE: "0",
};
