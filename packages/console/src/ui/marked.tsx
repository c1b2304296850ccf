/** A sentence of the contract or the catalog, in which backticks mark names. */
export const Marked = ({ text }: { readonly text: string }) =>
  text.split("`").map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
