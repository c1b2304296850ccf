import { CopyButton } from "../ui/copy-button.tsx";
import { exampleRequest } from "./example-request.ts";

/** A request with made-up values that is refused for the same reason, to read and to copy. */
export function ExampleCurl(broken: Parameters<typeof exampleRequest>[0]) {
  const text = exampleRequest(broken);
  if (text === undefined) return null;
  return (
    <figure className="example-curl">
      <figcaption>
        <span className="quiet">A request with made-up values that breaks the same rule.</span>{" "}
        <CopyButton text={text} label="Copy as curl" />
      </figcaption>
      <pre tabIndex={0} aria-label="The request">
        {text}
      </pre>
    </figure>
  );
}
