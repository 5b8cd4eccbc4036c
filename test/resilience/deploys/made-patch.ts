/** The change of Workflows by which tests make a newer build of today's: behind a patch, as a change of them has to be. */
export const madePatch = {
  /** Its file in `test/workflow/replay/changes`. */
  change: "hosts-read-again-patched",
  id: "hosts-read-again",
};
