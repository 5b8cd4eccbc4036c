import { useEffect, useState } from "preact/hooks";
import type { ErrorBody } from "../../domain/errors";
import { PageOfUpgrade, type Upgrade } from "../../domain/spec/upgrade";
import { usePolled } from "../client/ask-api";
import { fillLike } from "../client/new-upgrade";
import { errorBodyOf, serverNow } from "../client/send-request";
import { timeDisplay } from "../client/time-display";
import { formatTime } from "../model/local-time";
import { fragmentOf } from "../model/page-address";
import { ErrorNote } from "../parts/error-note";

/** How many earlier upgrades are offered, the newest first. */
const offered = 50;

interface SameAgainProps {
  /** Fills the form like this upgrade as soon as it can. */
  readonly like: string | undefined;
  /** Whether the clusters have been read: what is the same for several of them depends on their kinds. */
  readonly isReady: boolean;
}

/** Fills the form with the request of an earlier upgrade. */
export function SameAgain({ like, isReady }: SameAgainProps) {
  const path = `/v1/upgrades?sort=created&pageNumber=0&pageSize=${offered}`;
  const earlier = usePolled(PageOfUpgrade, path, 60_000).value?.elements ?? [];
  const [filled, setFilled] = useState<string>();
  const [error, setError] = useState<ErrorBody>();
  const fill = async (id: string) => {
    setError(undefined);
    setFilled(undefined);
    try {
      await fillLike(id);
      setFilled(id);
    } catch (thrown) {
      setError(errorBodyOf(thrown));
    }
  };
  useEffect(() => {
    if (like === undefined || !isReady) return;
    // Once: who comes back to this page finds what was changed since.
    history.replaceState(undefined, "", fragmentOf({ page: "NEW" }));
    void fill(like);
  }, [like, isReady]);
  if (earlier.length === 0 && like === undefined) return null;
  return (
    <div class="spec-field">
      <label for="same-again">Same as an earlier upgrade</label>
      <select
        id="same-again"
        aria-describedby="same-again-hint"
        value=""
        disabled={!isReady}
        onChange={({ currentTarget: { value } }) => {
          if (value !== "") void fill(value);
        }}
      >
        <option value="">Choose one to fill the form</option>
        {earlier.map((upgrade) => (
          <option key={upgrade.id} value={upgrade.id}>
            {wordsOf(upgrade)}
          </option>
        ))}
      </select>
      <span id="same-again-hint" class="small" role="status">
        {filled === undefined
          ? "Replaces everything below, without the times of then."
          : `Filled as ${nameOf(earlier, filled)} was asked for, as a draft without its times.`}
      </span>
      {error && <ErrorNote error={error} isAlert />}
    </div>
  );
}

function nameOf(upgrades: readonly Upgrade[], id: string): string {
  return upgrades.find((one) => one.id === id)?.name ?? id.slice(0, 8);
}

function wordsOf({ id, name = id, createdAt, createdBy }: Upgrade): string {
  const at =
    createdAt === undefined
      ? ""
      : `, ${formatTime(Date.parse(createdAt), { display: timeDisplay.value, now: serverNow() })}`;
  return `${name}${at}${createdBy === undefined ? "" : `, by ${createdBy}`}`;
}
