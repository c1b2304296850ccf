/** What is loading. It is shown after 150 ms only, so that quick answers do not flicker. */
export const Skeleton = ({ lines }: { readonly lines: number }) => (
  <div className="skeleton" role="status">
    <span className="visually-hidden">Loading</span>
    {Array.from({ length: lines }, (_, line) => (
      <span key={line} className="skeleton-line" aria-hidden="true" />
    ))}
  </div>
);
