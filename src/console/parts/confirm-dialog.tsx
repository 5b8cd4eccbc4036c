import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/error-body";
import { errorBodyOf } from "../client/api-failure";
import { timestampOf } from "../model/local-time";
import type { Operation } from "../model/operations";
import { ErrorNote } from "./error-note";

interface ConfirmDialogProps {
  readonly operation: Operation;
  /** False where the upgrade has gone on since the dialog was opened. */
  readonly isPossible: boolean;
  readonly upgradeName: string;
  /** `at` is RFC 3339; absent where no time was given. Rejects where the service refuses. */
  readonly perform: (operation: Operation, at?: string) => Promise<void>;
  readonly close: () => void;
}

/** Says what an operation will do and asks for a yes; shows why the service refused it. */
export function ConfirmDialog({ operation, isPossible, upgradeName, perform, close }: ConfirmDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [time, setTime] = useState("");
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<ErrorBody>();
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Closed before it is taken away, so that the browser gives the focus back to where it came from.
    return () => shown?.close();
  }, []);
  const submit = async (event: Event) => {
    event.preventDefault();
    setAsking(true);
    setError(undefined);
    try {
      await perform(operation, time === "" ? undefined : timestampOf(time));
      close();
    } catch (thrown) {
      setError(errorBodyOf(thrown));
      setAsking(false);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="confirm-title" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="confirm-title">{operation.label}?</h2>
        <p class="small">{upgradeName}</p>
        {operation.consequences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {operation.time && (
          <label class="field">
            {operation.time === "REQUIRED" ? "New time" : "Begin at (may stay empty)"}
            <input
              type="datetime-local"
              value={time}
              required={operation.time === "REQUIRED"}
              onInput={(event) => setTime(event.currentTarget.value)}
            />
          </label>
        )}
        {error && <ErrorNote error={error} isAlert />}
        <p role="status" class="small">
          {isAsking ? "Asking the service…" : isPossible ? "" : "The upgrade has gone on: this is not possible now."}
        </p>
        <div class="buttons">
          <button type="submit" class={operation.isGrave ? "grave" : "primary"} disabled={isAsking || !isPossible}>
            {operation.label}
          </button>
          <button type="button" onClick={() => dialog.current?.close()}>
            Do nothing
          </button>
        </div>
      </form>
    </dialog>
  );
}
