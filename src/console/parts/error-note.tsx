import type { ErrorBody } from "../../domain/errors";

interface ErrorNoteProps {
  readonly error: ErrorBody;
  readonly isAlert?: boolean;
  /** In a list of thousands, where Tab must not stop at each; its codes have links elsewhere on the page too. */
  readonly isInTree?: boolean;
}

/** An error as the service tells it: what is wrong, what to do, and what it consists of. */
export function ErrorNote({ error, isAlert = false, isInTree = false }: ErrorNoteProps) {
  const { message, remediationMessage, errorCode, nestedErrors = [], referenceToken } = error;
  return (
    <div class="error" {...(isAlert && { role: "alert" })}>
      <p>{message}</p>
      {remediationMessage !== undefined && <p class="remedy">What to do: {remediationMessage}</p>}
      {nestedErrors.length > 0 && (
        <ul>
          {nestedErrors.map((nested, i) => (
            <li key={i}>
              <ErrorNote error={nested} isInTree={isInTree} />
            </li>
          ))}
        </ul>
      )}
      {errorCode !== undefined && (
        <p class="small">
          <ErrorCode code={errorCode} isInTree={isInTree} />
          {referenceToken !== undefined && `, reference ${referenceToken}`}
        </p>
      )}
    </div>
  );
}

/** An error code, as a link to what the documents say of it. */
export function ErrorCode({ code, isInTree = false }: { readonly code: string; readonly isInTree?: boolean }) {
  return (
    <a href={`/docs/error-codes#${encodeURIComponent(code)}`} {...(isInTree && { tabIndex: -1 })}>
      {code}
    </a>
  );
}
