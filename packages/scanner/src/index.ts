export { CAPTURED, type Captured, type CatalogIndex } from "./catalog-index.ts";
export { renewedScanner } from "./renewed-scanner.ts";
export { type BodyScanner, type EventScan, type EventScanner, openScanner, type Scan } from "./scanner.ts";
