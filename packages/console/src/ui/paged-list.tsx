import { useInfiniteQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Failure } from "./failure.tsx";
import { Skeleton } from "./skeleton.tsx";

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  readonly next: string | null;
  /** What the answer has in addition to its rows; that of the first page is shown before them. */
  readonly before?: ReactNode;
}

interface PagedListProps<Row> {
  readonly queryKey: readonly unknown[];
  readonly read: (after: string | undefined) => Promise<ListPage<Row>>;
  readonly children: (rows: readonly Row[]) => ReactNode;
  readonly empty: ReactNode;
  /** What is listed: one, and several. */
  readonly noun: readonly [one: string, several: string];
  readonly more: string;
}

/** A list that is read page by page, with each of its states. */
export function PagedList<Row>({ queryKey, read, children, empty, noun, more }: PagedListProps<Row>) {
  const list = useInfiniteQuery({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: after }) => read(after),
    getNextPageParam: ({ next }: ListPage<Row>) => next ?? undefined,
  });
  if (list.isPending) return <Skeleton lines={8} />;
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const again = (): void => void (rows.length > 0 ? list.fetchNextPage() : list.refetch());
  return (
    <>
      {list.data?.pages[0]?.before}
      {rows.length > 0 && children(rows)}
      {list.error && <Failure error={list.error} what={`The ${noun[1]} could not be read`} again={again} />}
      {!list.error && rows.length === 0 && empty}
      <footer className="list-foot">
        {list.hasNextPage && (
          <button type="button" className="button" disabled={list.isFetchingNextPage} onClick={again}>
            {more}
          </button>
        )}
        {rows.length > 0 && !list.hasNextPage && (
          <p className="quiet">
            {rows.length.toLocaleString("en")} {noun[rows.length === 1 ? 0 : 1]}, and no more.
          </p>
        )}
      </footer>
    </>
  );
}
