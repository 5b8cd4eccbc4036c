import { useState } from "preact/hooks";
import { localTimeOf, timestampOf, utcWords } from "../model/local-time";

interface TimeInputProps {
  /** A timestamp, or what has not become one. */
  readonly value: string;
  /** Is given a timestamp, or an empty text. */
  readonly onChange: (timestamp: string) => void;
  readonly input: { readonly id: string };
}

/** No timestamp, so that no codec takes it. */
const incomplete = "an incomplete time";

/** A time as the browser's place has it, and the same in UTC: one of the two is what somebody else was told. */
export function TimeInput({ value, onChange, input }: TimeInputProps) {
  // What is being typed is a time of year 2 for a moment; it must not be taken away by what that is in UTC and back.
  const [typed, setTyped] = useState<{ text: string; timestamp: string }>();
  const text = typed?.timestamp === value ? typed.text : localTimeOf(value);
  const take = (now: string, timestamp: string) => {
    setTyped({ text: now, timestamp });
    onChange(timestamp);
  };
  return (
    <>
      <input
        type="datetime-local"
        {...input}
        step={text.length > "2026-12-01T09:30".length ? "any" : 60}
        value={text}
        onInput={({ currentTarget }) => take(currentTarget.value, timestampOf(currentTarget.value))}
        onBlur={({ currentTarget }) => {
          // Half a time has no value either, but is not the same as none.
          if (currentTarget.validity.badInput) take("", incomplete);
          else if (value === incomplete) take("", "");
        }}
      />
      {value !== "" && text !== "" && <span class="small utc">= {utcWords(value)}</span>}
    </>
  );
}
