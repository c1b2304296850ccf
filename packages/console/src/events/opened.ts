/** What a person opened stays in this page's memory only: another visit asks again, and is audited again. */
import type { Answer } from "@device-risk-signals/admin-api";
import { useQuery } from "@tanstack/react-query";
import { queryClient } from "../app/api.ts";

export type Opened = Answer<"readObservations">;

const keyOf = (eventId: string): readonly unknown[] => ["opened", eventId];

export const useOpened = (eventId: string): Opened | undefined =>
  useQuery<Opened>({ queryKey: keyOf(eventId), enabled: false }).data;

export const isOpened = (eventId: string): boolean => queryClient.getQueryData(keyOf(eventId)) !== undefined;

export const keepOpened = (opened: Opened): void => void queryClient.setQueryData(keyOf(opened.event.event_id), opened);
