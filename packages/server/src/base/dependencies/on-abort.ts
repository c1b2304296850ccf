interface Listener {
  readonly run: () => void;
  index: number;
}

/** The index of a listener that was removed. */
const REMOVED = -1;

const listenersOf = new WeakMap<AbortSignal, Listener[]>();

/**
 * Calls `run` when a signal is aborted. It is meant for a signal that exists much longer than its listeners, such as
 * the signal that stops the server.
 *
 * An `AbortSignal` keeps its listeners in a linked list, and a removed listener still refers to the next one. Once V8
 * has moved a removed listener to the old generation, every later listener survives scavenges, and with it all that the
 * listener refers to. So the signal gets one listener, and the others are in an array.
 *
 * @param signal is not aborted yet. @returns a function that removes `run`.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const listeners = listenersOf.get(signal) ?? listenTo(signal);
  const listener = { run, index: listeners.length };
  listeners.push(listener);
  return () => {
    const { index } = listener;
    if (index === REMOVED) return;
    listener.index = REMOVED;
    const last = listeners.pop();
    if (!last || last === listener) return;
    listeners[index] = last;
    last.index = index;
  };
}

function listenTo(signal: AbortSignal): Listener[] {
  const listeners: Listener[] = [];
  listenersOf.set(signal, listeners);
  const runAll = (): void => {
    for (const { run } of listeners.slice()) run();
  };
  signal.addEventListener("abort", runAll, { once: true });
  return listeners;
}
