import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ConsoleSession } from "../../domain/console-config";
import type { Operation } from "../model/operations";
import { ConfirmDialog } from "./confirm-dialog";

interface OperationButtonsProps {
  /** What the service would do now. */
  readonly operations: readonly Operation[];
  readonly upgradeName: string;
  /** Undefined until it is known. */
  readonly who: ConsoleSession | undefined;
  readonly perform: (operation: Operation, at?: string) => Promise<void>;
}

/** What can be done with an upgrade now, by somebody with this role. */
export function OperationButtons({ operations, upgradeName, who, perform }: OperationButtonsProps) {
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
      <p class="small">Your role {who.role} reads only: what can be done with this upgrade needs the role OPERATOR.</p>
    );
  const current = operations.find(({ name }) => name === chosen?.name);
  return (
    <div
      class="buttons"
      role="group"
      aria-label="What can be done now"
      tabIndex={-1}
      ref={group}
      onFocusCapture={({ target }) => {
        if (target instanceof HTMLButtonElement) focused.current = target;
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget !== null) focused.current = undefined;
      }}
    >
      {who &&
        operations.map((operation, i) => (
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
