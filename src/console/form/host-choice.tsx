import { useState } from "preact/hooks";
import { findHost } from "../../domain/plan/host-scope";
import { Cluster, type ClusterMember } from "../../domain/spec/cluster";
import type { HostsSpec } from "../../domain/spec/upgrade-spec";
import { usePolled } from "../client/ask-api";
import { plural } from "../model/labels";
import { fieldId, useForm } from "./form-context";
import { FieldNotes, useDescription } from "./spec-fields";

type Mode = keyof HostsSpec;

const modes = { include: "Only these", exclude: "All but these" } as const;

/** With more hosts than these one looks for them by their names. */
const mostWithoutSearch = 10;

interface HostChoiceProps {
  readonly cluster: Cluster;
  /** Index among the chosen clusters. */
  readonly place: number;
}

/** Which hosts of a chosen cluster are upgraded. Folded, because mostly all of them are. */
export function HostChoice({ cluster: { id, name }, place }: HostChoiceProps) {
  const { form, change } = useForm();
  const [isOpen, setOpen] = useState(false);
  const hosts = form.clusters[place]?.hosts;
  const path = `clusters[${place}].hosts`;
  const { "aria-invalid": _ofInputs, ...group } = useDescription(path);
  const mode = hosts && modeOf(hosts);
  const set = (value: HostsSpec | undefined) => change(["clusters", place, "hosts"], value);
  const radio = (label: string, isChecked: boolean, value: HostsSpec | undefined) => (
    <label class="check">
      <input type="radio" name={fieldId(`${path}.mode`)} checked={isChecked} onChange={() => set(value)} />
      {label}
    </label>
  );
  const named = (hosts && mode && hosts[mode]) ?? [];
  return (
    <details class="host-choice" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{scopeWords(hosts)}</summary>
      <fieldset {...group} tabIndex={-1} class={hosts ? "set" : ""}>
        <legend>Hosts of {name}</legend>
        <FieldNotes path={path} words={{ label: "Hosts", hint: "" }} />
        <div class="radios" role="radiogroup" aria-label={`Hosts of ${name}`}>
          {radio("All", hosts === undefined, undefined)}
          {radio(modes.include, mode === "include", { include: named })}
          {radio(modes.exclude, mode === "exclude", { exclude: named })}
        </div>
        {mode && (isOpen || named.length > 0) && (
          <HostList id={id} path={`${path}.${mode}`} mode={mode} named={named} set={(some) => set({ [mode]: some })} />
        )}
      </fieldset>
    </details>
  );
}

function modeOf({ include, exclude }: HostsSpec): Mode | undefined {
  if (include) return "include";
  return exclude && "exclude";
}

function scopeWords(hosts: HostsSpec | undefined): string {
  if (hosts?.include) return `Only ${plural(hosts.include.length, "host")}`;
  if (hosts?.exclude) return `Without ${plural(hosts.exclude.length, "host")}`;
  return "All its hosts";
}

interface HostListProps {
  readonly id: string;
  /** Of the list in the form. */
  readonly path: string;
  readonly mode: Mode;
  /** Names or ids. */
  readonly named: readonly string[];
  readonly set: (named: string[]) => void;
}

/** The hosts that the component manager lists, and those that are named and not among them. */
function HostList({ id, path, mode, named, set }: HostListProps) {
  const { value, error } = usePolled(Cluster, `/v1/clusters/${encodeURIComponent(id)}`, 60_000);
  const [text, setText] = useState("");
  const members = value?.hosts ?? [];
  const placeOf = (member: ClusterMember) => named.findIndex((one) => findHost(members, one)?.id === member.id);
  const unlisted = named.flatMap((one, place) => (findHost(members, one) ? [] : [{ one, place }]));
  const matching = members.filter(({ fqdn }) => fqdn.toLowerCase().includes(text.toLowerCase()));
  const free = matching.filter((member) => placeOf(member) < 0).map(({ fqdn }) => fqdn);
  const without = (place: number) => named.filter((_, i) => i !== place);
  const problem = error?.message ?? value?.errors?.map(({ message }) => message).join(" ");
  return (
    <>
      <FieldNotes path={path} words={{ label: "Hosts", hint: "" }} />
      {problem && <p class="small">{problem}</p>}
      {members.length > mostWithoutSearch && (
        <label class="field">
          Show those whose name holds
          <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
      )}
      <ul class="choices" id={fieldId(path)} tabIndex={0} aria-label={modes[mode]}>
        {unlisted.map(({ one, place }) => (
          <HostRow
            key={one}
            path={`${path}[${place}]`}
            name={one}
            facts={value?.hosts ? "not in the cluster" : ""}
            isChosen
            onChoose={() => {
              set(without(place));
              // Its row is gone then.
              document.getElementById(fieldId(path))?.focus();
            }}
          />
        ))}
        {matching.map((member) => {
          const place = placeOf(member);
          return (
            <HostRow
              key={member.id}
              path={place < 0 ? `${path}.${member.id}` : `${path}[${place}]`}
              name={member.fqdn}
              facts={member.version ?? "version unknown"}
              isChosen={place >= 0}
              onChoose={(isChosen) => set(isChosen ? [...named, member.fqdn] : without(place))}
            />
          );
        })}
      </ul>
      <div class="buttons">
        <button type="button" disabled={free.length === 0} onClick={() => set([...named, ...free])}>
          Choose all{text === "" ? "" : " of these"} ({free.length})
        </button>
        <button type="button" disabled={named.length === 0} onClick={() => set([])}>
          Choose none
        </button>
      </div>
    </>
  );
}

interface HostRowProps {
  readonly path: string;
  readonly name: string;
  readonly facts: string;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
}

function HostRow({ path, name, facts, isChosen, onChoose }: HostRowProps) {
  const input = useDescription(path);
  return (
    <li>
      <label class="check">
        <input
          type="checkbox"
          {...input}
          checked={isChosen}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
        <span>
          {name}{" "}
          <span class="small" id={`${input.id}-hint`}>
            {facts}
          </span>
        </span>
      </label>
      <FieldNotes path={path} words={{ label: name, hint: "" }} />
    </li>
  );
}
