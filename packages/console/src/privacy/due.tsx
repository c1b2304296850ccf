import { dateOf, dueWords } from "./words.ts";

/** A deadline in words and as a date; what is overdue differs in word and weight, not in colour alone. */
export const Due = ({ at, isOverdue }: { readonly at: string; readonly isOverdue: boolean }) => (
  <time dateTime={at} className={isOverdue ? "overdue" : undefined}>
    {dueWords(at)} <span className="quiet numbers">({dateOf(at)})</span>
  </time>
);
