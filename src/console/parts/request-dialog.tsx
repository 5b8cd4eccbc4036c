import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/errors";
import { errorBodyOf } from "../client/send-request";
import { exactTime, timestampOf, zoneName } from "../model/local-time";
import { ErrorNote } from "./error-note";
import { useModal } from "./modal";

interface RequestDialogProps {
  /** Without the question mark. */
  readonly title: string;
  /** On the button that sends the request. */
  readonly submit: string;
  readonly isGrave?: boolean | undefined;
  /** Why the request cannot be made any more; the button is off then. */
  readonly obstacle?: string | undefined;
  /** Sends the request; rejects where the service refuses it, which is shown, and the dialog stays open. */
  readonly send: () => Promise<unknown>;
  readonly close: () => void;
  /** What the request does, and the fields that it needs. */
  readonly children: ComponentChildren;
}

/** Says what a request will do and asks for a yes; shows why the service refused it. */
export function RequestDialog({ title, submit, isGrave, obstacle, send, close, children }: RequestDialogProps) {
  const dialog = useModal();
  const titleId = useId();
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<ErrorBody>();
  const sendOnce = async (event: Event) => {
    event.preventDefault();
    setAsking(true);
    setError(undefined);
    try {
      await send();
      close();
    } catch (thrown) {
      setError(errorBodyOf(thrown));
      setAsking(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby={titleId} onClose={close}>
      <form onSubmit={(event) => void sendOnce(event)}>
        <h2 id={titleId}>{title}?</h2>
        {children}
        {error && <ErrorNote error={error} isAlert />}
        <p role="status" class="small">
          {isAsking ? "Asking the service…" : (obstacle ?? "")}
        </p>
        <div class="buttons">
          <button type="submit" class={isGrave ? "grave" : "primary"} disabled={isAsking || obstacle !== undefined}>
            {submit}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Go back
          </button>
        </div>
      </form>
    </dialog>
  );
}

interface DialogFieldProps {
  readonly label: string;
  readonly value: string;
  readonly required?: boolean;
  readonly onChange: (value: string) => void;
}

/** A reason or a comment. */
export function SentenceField({ label, value, required = false, onChange }: DialogFieldProps) {
  return (
    <label class="field">
      {label}
      <input
        type="text"
        value={value}
        maxLength={1024}
        required={required}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </label>
  );
}

/** A time in the zone of the browser, which it names, and says what was typed before it counts. */
export function TimeField({ label, value, required = false, onChange }: DialogFieldProps) {
  return (
    <label class="field">
      {label}, {zoneName()}
      <input
        type="datetime-local"
        value={value}
        required={required}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {value !== "" && <span class="small">{exactTime(Date.parse(timestampOf(value)))}</span>}
    </label>
  );
}
