/** A host that the run would have gone on to takes longer than a moment, or the run is to stop: another one goes on from there. */
export class LeftToOthers extends Error {}
