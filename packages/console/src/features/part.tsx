import type { ReactNode } from "react";
import { Failure } from "../ui/failure.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

interface PartProps {
  readonly id: string;
  readonly title: string;
  readonly error: unknown;
  readonly again: () => unknown;
  readonly isEmpty: boolean | undefined;
  readonly empty: string;
  /** Buttons next to the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of the page that is loading, failed, empty or there, without the others. */
export const Part = ({ id, title, error, again, isEmpty, empty, actions, children }: PartProps) => (
  <section aria-labelledby={id}>
    <div className="section-head">
      <h2 id={id}>{title}</h2>
      {actions}
    </div>
    {error ? <Failure error={error} what={`${title} could not be read`} again={() => void again()} /> : null}
    {!error && isEmpty === undefined && <Skeleton lines={3} />}
    {isEmpty === true && <p className="quiet">{empty}</p>}
    {isEmpty === false && (
      <div className="table-scroll" tabIndex={0} role="region" aria-label={`Table: ${title}`}>
        {children}
      </div>
    )}
  </section>
);

export const isEmptyList = (list: readonly unknown[] | undefined): boolean | undefined => list && list.length === 0;
