/** The rows and columns of an export. */
import type { ExportAttribute, FeatureExportManifest } from "@device-risk-signals/admin-api";
import type { Instant } from "@device-risk-signals/contract";

export interface Cell {
  /** The value; `null` in each state except `observed`. */
  readonly value: boolean | number | string | null;
  readonly state: string;
  /** The states of the inputs, in their order; absent if they are no columns or not known. */
  readonly inputs?: readonly string[];
}

export interface TableRow {
  /** The number of the label, counted from 1. */
  readonly row: number;
  /** The number of the event, counted from 1 at the newest event of the label; `null` if no values were found. */
  readonly event: number | null;
  /** The time of the label as it is written in the label file, and as an instant. */
  readonly labelTime: string;
  readonly labelAt: Instant;
  readonly label: string;
  /** The time of receipt in RFC 3339; `null` if no values were found. */
  readonly receivedAt: string | null;
  readonly extractedAt: string | null;
  /** In the order of the head; `null` if no values were found. */
  readonly attributes: readonly (string | null)[];
  /** The cells in the order of the columns. */
  readonly cells: readonly Cell[];
}

export type TableColumn = Omit<FeatureExportManifest["columns"][number], "states">;

/** What a Parquet file says about itself in its metadata. */
export interface TableHead extends Pick<FeatureExportManifest, "export_id" | "expires_on"> {
  /** Whether a label can have several rows, which the column `event` numbers. */
  readonly hasHistory: boolean;
  readonly attributes: readonly ExportAttribute[];
  readonly columns: readonly TableColumn[];
}

export interface TableWriter {
  /** Appends the rows, and writes the bytes that are complete. */
  write(rows: readonly TableRow[]): Promise<void>;
  end(): Promise<void>;
}

export type Append = (bytes: Uint8Array) => Promise<void>;

export const stateNameOf = (name: string): string => `${name}__state`;
