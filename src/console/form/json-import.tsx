import * as E from "fp-ts/Either";
import { useRef, useState } from "preact/hooks";
import { failure, knownClusters, problems, request, startAfresh } from "../client/new-upgrade";
import { jsonOf } from "../model/curl-command";
import { readRequest, type ReadRequest } from "../model/form-request";
import { ErrorNote } from "../parts/error-note";
import { revealField } from "./form-context";

/** Takes a request as JSON, edited here or pasted, and fills the form with it. */
export function JsonImport() {
  const [text, setText] = useState("");
  const [outcome, setOutcome] = useState<ReadRequest>();
  const now = request.value;
  const area = useRef<HTMLTextAreaElement>(null);
  const fill = () => {
    const read = readRequest(text, knownClusters.value);
    setOutcome(read);
    if (E.isRight(read)) startAfresh(read.right.form);
    else area.current?.focus();
  };
  return (
    <details class="panel">
      <summary>Fill the form from JSON</summary>
      <div class="spec-field">
        <label for="request-json">Request as JSON</label>
        <textarea
          ref={area}
          id="request-json"
          rows={8}
          spellcheck={false}
          aria-describedby="request-json-hint request-json-outcome"
          aria-invalid={outcome !== undefined && E.isLeft(outcome)}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <span id="request-json-hint" class="small">
          The body of POST /v1/upgrades, such as a file of examples/. It replaces everything in the form.
        </span>
        <div id="request-json-outcome" role="status">
          {outcome && <Outcome outcome={outcome} />}
        </div>
      </div>
      <div class="buttons">
        <button type="button" onClick={fill}>
          Fill the form
        </button>
        {E.isRight(now) && (
          <button type="button" onClick={() => setText(jsonOf(now.right))}>
            Edit what the form says
          </button>
        )}
      </div>
    </details>
  );
}

function Outcome({ outcome }: { readonly outcome: ReadRequest }) {
  if (E.isLeft(outcome))
    return (
      <ul class="field-error">
        {outcome.left.map((message) => (
          <li key={message}>{message}</li>
        ))}
      </ul>
    );
  const { unknown } = outcome.right;
  if (unknown.length === 0) return <p class="small">The form is filled.</p>;
  return (
    <p class="field-error">
      The form is filled, without fields that the interface does not know: {unknown.join(", ")}.
    </p>
  );
}

/** What stands in the way, each problem with a way to its field; below, what the service said of no field. */
export function ProblemSummary() {
  const placed = problems.value;
  const error = failure.value;
  if (placed.length === 0)
    return (
      <div id="problem-summary" tabIndex={-1}>
        {error && <ErrorNote error={error} isAlert />}
      </div>
    );
  return (
    <div class="error" role="alert" id="problem-summary" tabIndex={-1}>
      <p class="remedy">
        {placed.length === 1 ? "One thing has to be put right:" : `${placed.length} things have to be put right:`}
      </p>
      <ul>
        {placed.map(({ at, message, remediation }) => (
          <li key={`${at} ${message}`}>
            <button type="button" class="link" onClick={() => revealField(at)?.focus()}>
              {message}
            </button>
            {remediation !== undefined && ` ${remediation}`}
          </li>
        ))}
      </ul>
    </div>
  );
}
