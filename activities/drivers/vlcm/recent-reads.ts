import type { VlcmClient } from "./vlcm-client";
import { ApplyResult, hasEnded } from "./vlcm-models";

/** A client that answers from what it was told a moment ago. */
export interface RecentReads {
  readonly client: VlcmClient;
  /** Whatever is asked next is asked anew, for who looks again wants to see something new; except for the desired image. */
  forget(): void;
}

/**
 * A client for one run that goes from host to host within moments: how the last host was found at its end is how the next
 * one is found at its beginning, so it is not asked twice. What a remediation or a scan may change is asked for anew after
 * it; the desired image is none of that, and how the last remediation ended is what its task has told. `recent`: how old an
 * answer may be that is used again, in milliseconds.
 */
export function recentReads(client: VlcmClient, recent: number): RecentReads {
  const known = new Map<string, { readonly at: number; readonly answer: Promise<unknown> }>();
  const remembered = <A>(what: string, read: (cluster: string) => Promise<A>) => {
    return async (cluster: string): Promise<A> => {
      const key = `${what} ${cluster}`;
      const found = known.get(key);
      if (found && Date.now() - found.at < recent) return found.answer as Promise<A>;
      const answer = read(cluster);
      known.set(key, { at: Date.now(), answer });
      answer.catch(() => known.delete(key));
      return answer;
    };
  };
  const forget = () => {
    for (const key of known.keys()) if (!key.startsWith("image ")) known.delete(key);
  };
  /** The clusters of remediations that were asked for here, by their tasks. */
  const applied = new Map<string, string>();
  const forgetting = <I extends unknown[], A>(change: (...input: I) => Promise<A>) => {
    return (...input: I): Promise<A> => {
      forget();
      return change(...input);
    };
  };
  return {
    forget,
    client: {
      ...client,
      listHosts: remembered("hosts", (cluster) => client.listHosts(cluster)),
      readCompliance: remembered("compliance", (cluster) => client.readCompliance(cluster)),
      readLastApplyResult: remembered("last apply", (cluster) => client.readLastApplyResult(cluster)),
      readTask: async (task, isPatient) => {
        const info = await client.readTask(task, isPatient);
        const cluster = applied.get(task);
        if (cluster !== undefined && hasEnded(info) && ApplyResult.is(info.result))
          known.set(`last apply ${cluster}`, { at: Date.now(), answer: Promise.resolve(info.result) });
        return info;
      },
      readDesiredImage: remembered("image", (cluster) => client.readDesiredImage(cluster)),
      scan: forgetting((cluster) => client.scan(cluster)),
      apply: forgetting(async (cluster, request) => {
        const task = await client.apply(cluster, request);
        applied.set(task, cluster);
        return task;
      }),
    },
  };
}
