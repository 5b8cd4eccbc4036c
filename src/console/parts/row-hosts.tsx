import type { UpgradeHosts } from "../../domain/spec/upgrade";

/** Hosts that are done, of all, with a bar whose failed part is red; in words for those who do not see it. */
export function RowHosts({ hosts: { total, done, failed, running, leftOut = 0 } }: { readonly hosts: UpgradeHosts }) {
  const percent = (count: number) => `${total === 0 ? 0 : (count / total) * 100}%`;
  return (
    <span class="hosts">
      <span>
        {done}/{total}
        {failed > 0 && <span class="bad-word"> {failed} failed</span>}
        {leftOut > 0 && <span> {leftOut} left out</span>}
      </span>
      <svg class="row-bar" aria-hidden="true">
        <rect class="good" width={percent(done)} height="100%" />
        <rect class="running" x={percent(done)} width={percent(running)} height="100%" />
        <rect class="bad" x={percent(done + running)} width={percent(failed)} height="100%" />
      </svg>
    </span>
  );
}
