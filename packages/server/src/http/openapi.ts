import adminDocument from "@device-risk-signals/admin-api/schema/openapi.json" with { type: "json" };
import document from "@device-risk-signals/contract/schema/openapi.json" with { type: "json" };

/** The committed documents, as they are served. */
export const OPENAPI_JSON: string = JSON.stringify(document);
export const ADMIN_OPENAPI_JSON: string = JSON.stringify(adminDocument);
