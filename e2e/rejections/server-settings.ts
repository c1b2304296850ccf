/**
 * Settings with which a server rejects as much as possible: it enforces session binding and has short time limits. It
 * has no throttle, so that no case affects another one.
 */
export const REJECTING_SERVER = {
  DRS_SESSION_BINDING: "enforce",
  DRS_REQUEST_TIMEOUT: "2s",
  DRS_THROTTLE_RATE: "0",
};
