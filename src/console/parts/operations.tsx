import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ConsoleSession } from "../../domain/console-config";
import type { Upgrade } from "../../domain/spec/upgrade";
import { timestampOf } from "../model/local-time";
import { type Operation, operationsFor, whoMayApprove } from "../model/operations";
import type { PartChoice } from "../model/part-choices";
import { RequestDialog, SentenceField, TimeField } from "./request-dialog";

interface OperationButtonsProps {
  /** What the service would do now. */
  readonly operations: readonly Operation[];
  readonly upgradeName: string;
  readonly upgrade: Upgrade | undefined;
  /** Undefined until it is known. */
  readonly who: ConsoleSession | undefined;
  readonly perform: Perform;
}

/** What is given with an operation: a time (RFC 3339), a comment, a part of the upgrade. */
export interface Given {
  readonly at?: string;
  readonly comment?: string;
  readonly part?: PartChoice["part"];
}

/** Does an operation with what was given. Rejects where the service refuses. */
type Perform = (operation: Operation, given: Given) => Promise<void>;

/** What can be done with an upgrade now, by somebody with this role. */
export function OperationButtons(props: OperationButtonsProps) {
  const { upgrade, who } = props;
  const hint = who && upgrade && whoMayApprove(props.operations, upgrade, who);
  return (
    <>
      {hint !== undefined && <p class="small">{hint}</p>}
      <Buttons {...props} />
    </>
  );
}

function Buttons({ operations: possible, upgradeName, who, perform }: OperationButtonsProps) {
  const operations = who ? operationsFor(who, possible) : [];
  const [chosen, setChosen] = useState<Operation>();
  const group = useRef<HTMLDivElement>(null);
  const focused = useRef<HTMLElement | undefined>(undefined);
  useLayoutEffect(() => {
    // A button goes away with its operation; whoever was on it stays here instead of at the page's beginning.
    if (!focused.current || focused.current.isConnected || document.activeElement !== document.body) return;
    focused.current = undefined;
    group.current?.focus();
  });
  if (who && !who.mayOperate)
    return operations.length === 0 ? null : (
      <p class="small">Your role {who.role} is read-only; acting on this upgrade needs the role OPERATOR.</p>
    );
  const current = operations.find(({ name }) => name === chosen?.name);
  return (
    <div
      class="buttons"
      role="group"
      aria-label="Possible actions"
      tabIndex={-1}
      ref={group}
      onFocusCapture={({ target }) => {
        if (target instanceof HTMLButtonElement) focused.current = target;
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget !== null) focused.current = undefined;
      }}
    >
      {operations.map((operation, i) => (
        <button
          key={operation.name}
          type="button"
          class={operation.isGrave ? "grave" : i === 0 ? "primary" : ""}
          onClick={() => setChosen(operation)}
        >
          {operation.label}
        </button>
      ))}
      {chosen && (
        <ConfirmDialog
          key={chosen.name}
          operation={current ?? chosen}
          isPossible={current !== undefined}
          upgradeName={upgradeName}
          perform={perform}
          close={() => setChosen(undefined)}
        />
      )}
    </div>
  );
}

interface ConfirmDialogProps {
  readonly operation: Operation;
  /** False where the upgrade has gone on since the dialog was opened. */
  readonly isPossible: boolean;
  readonly upgradeName: string;
  readonly perform: Perform;
  readonly close: () => void;
}

/** Says what an operation will do and asks for a yes; shows why the service refused it. */
function ConfirmDialog({ operation, isPossible, upgradeName, perform, close }: ConfirmDialogProps) {
  const [time, setTime] = useState("");
  const [comment, setComment] = useState("");
  // As it was when the dialog was opened: a list that changes under the pointer is chosen from by mistake.
  const [groups] = useState(() => operation.parts?.() ?? []);
  const choices = groups.flatMap((group) => group.choices);
  const [chosenPart, setChosenPart] = useState(0);
  const part = choices[chosenPart]?.part;
  // A button with an ellipsis leads here; what is asked here needs none.
  const words = operation.label.replace(/…$/, "");
  const send = () => {
    const said = comment.trim();
    return perform(operation, {
      ...(time !== "" && { at: timestampOf(time) }),
      ...(said !== "" && { comment: said }),
      ...(part && { part }),
    });
  };
  return (
    <RequestDialog
      title={words}
      submit={words}
      isGrave={operation.isGrave}
      obstacle={isPossible ? undefined : "The upgrade has progressed; this is no longer possible."}
      send={send}
      close={close}
    >
      <p class="small">{upgradeName}</p>
      {operation.consequences.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {choices.length > 0 && (
        <label class="field">
          What
          <select value={chosenPart} onChange={(event) => setChosenPart(Number(event.currentTarget.value))}>
            {groups.map((group) => (
              <optgroup key={group.label} label={group.label}>
                {group.choices.map((choice) => (
                  <option key={choice.label} value={choices.indexOf(choice)}>
                    {choice.label}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
        </label>
      )}
      {operation.time && (
        <TimeField
          label={operation.time === "REQUIRED" ? "New time" : "Start at (optional)"}
          value={time}
          required={operation.time === "REQUIRED"}
          onChange={setTime}
        />
      )}
      {operation.comment && (
        <SentenceField
          label={operation.comment === "REQUIRED" ? "Reason" : "Comment (optional)"}
          value={comment}
          required={operation.comment === "REQUIRED"}
          onChange={setComment}
        />
      )}
    </RequestDialog>
  );
}
