import { useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/errors";
import type { Upgrade } from "../../domain/spec/upgrade";
import { openApi } from "../client/ask-api";
import { errorBodyOf } from "../client/send-request";
import { type BulkOperation, bulkOperationsOf } from "../model/bulk-operations";
import { plural } from "../model/labels";
import { timestampOf } from "../model/local-time";
import { ErrorNote } from "./error-note";
import { useModal } from "./modal";
import { TimeField } from "./request-dialog";

interface BulkOperationsProps {
  readonly chosen: readonly Upgrade[];
  readonly clear: () => void;
  /** The service has been asked for something. */
  readonly refresh: () => void;
}

/** What can be done with all chosen upgrades at once. */
export function BulkOperations({ chosen, clear, refresh }: BulkOperationsProps) {
  const [asked, setAsked] = useState<BulkOperation>();
  if (chosen.length === 0 && !asked) return null;
  return (
    <div class="buttons bulk" role="group" aria-label="Chosen upgrades">
      <span>{plural(chosen.length, "upgrade")} chosen</span>
      {bulkOperationsOf(chosen).map((operation) => (
        <button
          key={operation.name}
          type="button"
          class={operation.isGrave ? "grave" : ""}
          onClick={() => setAsked(operation)}
        >
          {operation.label} {operation.upgrades.length}
        </button>
      ))}
      <button type="button" onClick={clear}>
        Clear
      </button>
      {asked && (
        <BulkDialog
          operation={asked}
          refresh={refresh}
          close={(hasAsked) => {
            setAsked(undefined);
            if (hasAsked) clear();
          }}
        />
      )}
    </div>
  );
}

interface BulkDialogProps {
  readonly operation: BulkOperation;
  readonly refresh: () => void;
  /** `hasAsked`: something was asked of the service, and not just gone back. */
  readonly close: (hasAsked: boolean) => void;
}

/** Says once what is about to happen, asks the service for one upgrade after the other, and keeps what it refused. */
function BulkDialog({ operation, refresh, close }: BulkDialogProps) {
  const dialog = useModal();
  const [time, setTime] = useState("");
  const [done, setDone] = useState<number>();
  const [refused, setRefused] = useState<readonly { readonly name: string; readonly error: ErrorBody }[]>([]);
  const { upgrades, label } = operation;
  const submit = async (event: Event) => {
    event.preventDefault();
    setDone(0);
    const failures: { name: string; error: ErrorBody }[] = [];
    for (const { id, name = id } of upgrades) {
      try {
        await openApi(operation.requestFor(id, time === "" ? undefined : timestampOf(time)));
      } catch (thrown) {
        failures.push({ name, error: errorBodyOf(thrown) });
        setRefused([...failures]);
      }
      setDone((count = 0) => count + 1);
    }
    refresh();
    if (failures.length === 0) close(true);
  };
  const isBusy = done !== undefined && done < upgrades.length;
  return (
    <dialog
      ref={dialog}
      aria-labelledby="bulk-title"
      // Whoever leaves in the middle would not see what is refused.
      onCancel={(event) => isBusy && event.preventDefault()}
      onClose={() => close(done !== undefined)}
    >
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="bulk-title">
          {label} {plural(upgrades.length, "upgrade")}?
        </h2>
        {operation.consequences.map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {operation.time && done === undefined && (
          <TimeField
            label={operation.time === "REQUIRED" ? "New time" : "Start at (optional)"}
            value={time}
            required={operation.time === "REQUIRED"}
            onChange={setTime}
          />
        )}
        <p role="status" class="small">
          {done === undefined ? "" : `${done} of ${upgrades.length} done.`}
        </p>
        {refused.map(({ name, error }) => (
          <section key={name}>
            <h3>{name} was refused</h3>
            <ErrorNote error={error} />
          </section>
        ))}
        <div class="buttons">
          {done === undefined && (
            <button type="submit" class={operation.isGrave ? "grave" : "primary"}>
              {label} {plural(upgrades.length, "upgrade")}
            </button>
          )}
          <button type="button" disabled={isBusy} onClick={() => dialog.current?.close()}>
            {done === undefined ? "Go back" : "Close"}
          </button>
        </div>
      </form>
    </dialog>
  );
}
