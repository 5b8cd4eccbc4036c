import type { ErrorBody } from "../../domain/errors";

/** An error as the service tells it: what is wrong, what to do, and what it consists of. */
export function ErrorNote({ error, isAlert = false }: { readonly error: ErrorBody; readonly isAlert?: boolean }) {
  const { message, remediationMessage, errorCode, nestedErrors = [], referenceToken } = error;
  return (
    <div class="error" {...(isAlert && { role: "alert" })}>
      <p>{message}</p>
      {remediationMessage !== undefined && <p class="remedy">What to do: {remediationMessage}</p>}
      {nestedErrors.length > 0 && (
        <ul>
          {nestedErrors.map((nested, i) => (
            <li key={i}>
              <ErrorNote error={nested} />
            </li>
          ))}
        </ul>
      )}
      {errorCode !== undefined && (
        <p class="small">
          {errorCode}
          {referenceToken !== undefined && `, reference ${referenceToken}`}
        </p>
      )}
    </div>
  );
}
