import { AdminRequestError } from "@device-risk-signals/admin-api/client";

interface FailureProps {
  readonly error: unknown;
  /** What could not be done; a sentence without its period. */
  readonly what: string;
  readonly again?: () => void;
}

/** Says why a call failed, in the server's words, next to what else the page shows. */
export function Failure({ error, what, again }: FailureProps) {
  return (
    <div className="failure" role="alert">
      <p>
        <strong>{what}.</strong> <span className="foreign">{reasonOf(error)}</span>
      </p>
      {error instanceof AdminRequestError && (
        <p className="quiet small numbers">
          Status {error.status}
          {error.code && `, ${error.code}`}
        </p>
      )}
      {again && (
        <button type="button" className="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

function reasonOf(error: unknown): string {
  if (error instanceof AdminRequestError) return error.message;
  if (error instanceof DOMException && error.name === "TimeoutError") return "The server did not answer in time.";
  return "The server can't be reached.";
}
