import { useState } from "react";

/** A change that a person asked for, and how far it is. */
export interface Change<Asked> {
  readonly isRunning: boolean;
  /** The latest line of progress. */
  readonly progress: string | undefined;
  readonly error: unknown;
  readonly run: (asked: Asked) => Promise<void>;
  /** Runs it once more with what was asked for. */
  readonly again: () => Promise<void>;
}

type Work<Asked> = (asked: Asked, onProgress: (line: string) => void) => Promise<void>;

export function useChange<Asked = void>(work: Work<Asked>): Change<Asked> {
  const [isRunning, setRunning] = useState(false);
  const [progress, setProgress] = useState<string>();
  const [error, setError] = useState<unknown>();
  const [last, setLast] = useState<{ readonly asked: Asked }>();
  const run = async (asked: Asked): Promise<void> => {
    setLast({ asked });
    setRunning(true);
    setProgress(undefined);
    setError(undefined);
    try {
      await work(asked, setProgress);
    } catch (thrown) {
      setError(thrown);
    }
    setRunning(false);
  };
  const again = async (): Promise<void> => {
    if (last) await run(last.asked);
  };
  return { isRunning, progress, error, run, again };
}
