/** Calls of the admin API from a page. The cookie of the session is the credential; no script can read it. */
import { type AdminClientOptions, AdminRequestError, createAdminClient } from "@device-risk-signals/admin-api/client";
import type { Answer, Input, RouteId } from "@device-risk-signals/admin-api";
import { QueryClient, useQuery, type UseQueryResult } from "@tanstack/react-query";
import { BASE_URL } from "./base.ts";

type CallOptions = Pick<AdminClientOptions, "onProgress" | "timeoutMs">;

/** Calls a route. If the session has ended, the shell leads to the sign-in. */
export async function call<Id extends RouteId>(
  id: Id,
  input: Input<Id>,
  options: CallOptions = {},
): Promise<Answer<Id>> {
  try {
    return await createAdminClient({ url: BASE_URL, ...options }).call(id, input);
  } catch (error) {
    if (isSignedOut(error) && id !== "readSession") await queryClient.invalidateQueries({ queryKey: ["readSession"] });
    throw error;
  }
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // What a route answered is shown until the person asks again: many reads are audited.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: false,
      retry: (failures, error) => failures < 2 && isWorthRetrying(error),
    },
  },
});

const isWorthRetrying = (error: Error): boolean =>
  !(error instanceof AdminRequestError) || [429, 502, 503].includes(error.status);

export const keyOf = <Id extends RouteId>(id: Id, input: Input<Id>): readonly unknown[] => [id, input];

/** Reads a route once, and shows the answer of the same read again without another call. */
export const useRead = <Id extends RouteId>(id: Id, input: Input<Id>, isEnabled = true): UseQueryResult<Answer<Id>> =>
  useQuery({ queryKey: keyOf(id, input), queryFn: () => call(id, input), enabled: isEnabled });

export const isSignedOut = (error: unknown): boolean => error instanceof AdminRequestError && error.status === 401;
