import { PreRemediationPowerAction } from "../../domain/upgrade-spec";
import { switches, type Switch, type UpgradeForm } from "../model/upgrade-form";

interface UpgradeOptionsProps {
  readonly form: UpgradeForm;
  readonly change: (part: Partial<UpgradeForm>) => void;
}

const powerWords: Record<PreRemediationPowerAction, string> = {
  DO_NOT_CHANGE_VMS_POWER_STATE: "Leave them as they are",
  POWER_OFF_VMS: "Power them off",
  SUSPEND_VMS: "Suspend them to disk",
  SUSPEND_VMS_TO_MEMORY: "Suspend them to memory",
};

/** When and how the hosts are upgraded. */
export function UpgradeOptions({ form, change }: UpgradeOptionsProps) {
  const { retries } = form;
  const flip = (name: Switch, on: boolean) => {
    const next = new Set(form.switches);
    if (on) next.add(name);
    else next.delete(name);
    change({ switches: next });
  };
  return (
    <>
      <fieldset>
        <legend>When</legend>
        <label class="check">
          <input
            type="checkbox"
            checked={form.isDraft}
            onChange={(event) => change({ isDraft: event.currentTarget.checked })}
          />
          As a draft: prechecks run at once, nothing is changed before somebody commits it
        </label>
        <label class="field">
          Begin at (leave empty for now)
          <input
            type="datetime-local"
            value={form.scheduledTimestamp}
            onInput={(event) => change({ scheduledTimestamp: event.currentTarget.value })}
          />
        </label>
      </fieldset>
      <fieldset>
        <legend>Options</legend>
        {(Object.entries(switches) as [Switch, string][]).map(([name, words]) => (
          <label class="check" key={name}>
            <input
              type="checkbox"
              checked={form.switches.has(name)}
              onChange={(event) => flip(name, event.currentTarget.checked)}
            />
            {words}
          </label>
        ))}
        <label class="field">
          Machines that cannot be moved
          <select
            value={form.powerAction}
            onChange={({ currentTarget: { value } }) =>
              change({ powerAction: PreRemediationPowerAction.is(value) ? value : "" })
            }
          >
            <option value="">As the component manager is set</option>
            {Object.entries(powerWords).map(([action, words]) => (
              <option key={action} value={action}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </fieldset>
      <fieldset>
        <legend>When a host fails</legend>
        <label class="check">
          <input
            type="checkbox"
            checked={retries !== undefined}
            onChange={({ currentTarget: { checked } }) =>
              change({ retries: checked ? { count: 3, delay: 300 } : undefined })
            }
          />
          Try it again
        </label>
        {retries && (
          <div class="filters">
            <label class="field">
              How often
              <input
                type="number"
                min={0}
                max={100}
                value={retries.count}
                onInput={(event) => change({ retries: { ...retries, count: event.currentTarget.valueAsNumber } })}
              />
            </label>
            <label class="field">
              After how many seconds
              <input
                type="number"
                min={0}
                max={3600}
                value={retries.delay}
                onInput={(event) => change({ retries: { ...retries, delay: event.currentTarget.valueAsNumber } })}
              />
            </label>
          </div>
        )}
      </fieldset>
    </>
  );
}
