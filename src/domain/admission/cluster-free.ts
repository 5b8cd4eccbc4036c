import { perResource } from "./admission-rule";

/** No other upgrade holds the cluster. One that is not visible yet is found by the lock itself. */
export const clusterFree = perResource(({ resourceId }, path, { lockHolders }) => {
  const holder = lockHolders.get(resourceId);
  if (holder === undefined) return [];
  return [
    {
      effect: "NOT_ALLOWED",
      path: `${path}.resourceId`,
      code: "RESOURCE_LOCKED",
      message: `Cluster ${resourceId} is held by upgrade ${holder}.`,
      remediation: `Wait until upgrade ${holder} has ended, or cancel it.`,
    },
  ];
});
