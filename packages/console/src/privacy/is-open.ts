import type { DataRequest } from "./words.ts";

/** A request that was closed in part still waits for the end of a hold. */
export const isOpen = ({ closed_at, completable }: DataRequest): boolean => closed_at === null || completable;
