/** The cases in which one request must be rejected, by the step that rejects it. `Case.row` lists the steps. */
import type { Case } from "./case.ts";
import { HEADER_CASES } from "./header-cases.ts";
import { HTTP_CASES } from "./http-cases.ts";
import { REQUEST_CASES } from "./request-cases.ts";
import { TEXT_CASES } from "./text-cases.ts";

export const REJECTIONS: readonly Case[] = [...HEADER_CASES, ...TEXT_CASES, ...REQUEST_CASES, ...HTTP_CASES];
