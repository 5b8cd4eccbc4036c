import * as E from "fp-ts/Either";
import { useRef, useState } from "preact/hooks";
import { knownClusters, request, startAfresh } from "../client/new-upgrade";
import { jsonOf } from "../model/curl-command";
import { readRequest, type ReadRequest } from "../model/form-request";

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
