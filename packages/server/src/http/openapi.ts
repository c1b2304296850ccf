import document from "@device-risk-signals/contract/schema/openapi.json" with { type: "json" };

/** The committed document, as it is served. */
export const OPENAPI_JSON: string = JSON.stringify(document);
