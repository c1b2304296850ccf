/** Runs functions one after the other, in the order of the calls. A failure reaches only its own caller. */
export function oneAtATime(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let lastResult: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = lastResult.then(work);
    lastResult = result.catch(() => undefined);
    return result;
  };
}
