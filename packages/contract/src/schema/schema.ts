export { type JsonSchema, schemaDocuments } from "./json-schema.ts";
export { openApiDocument } from "./openapi.ts";
