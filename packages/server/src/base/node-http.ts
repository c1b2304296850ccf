/**
 * Node's `http` and `https`. An `import` of either module reads all exports of `http`. One of them, `WebSocket`, loads
 * the implementation of `fetch`, which takes 30 ms of processor time in each process.
 */
export const http = process.getBuiltinModule("node:http");
export const https = process.getBuiltinModule("node:https");
