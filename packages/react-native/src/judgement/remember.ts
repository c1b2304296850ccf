/** Computes the result once for each object, because several fields are concluded from one text of up to 4 MB. */
export function remember<Key extends object, Result>(compute: (key: Key) => Result): (key: Key) => Result {
  const known = new WeakMap<Key, { readonly result: Result }>();
  return (key) => {
    const remembered = known.get(key) ?? { result: compute(key) };
    known.set(key, remembered);
    return remembered.result;
  };
}
