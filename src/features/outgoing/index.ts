/**
 * Common parts of the queues that send webhooks and e-mail: one pace that leaves the processor to requests,
 * results that share commits, waits after faults, and times that survive changes of the clock.
 */
export { createLoadThrottle, type LoadThrottle } from "./load-throttle";
export { OncePerTurn } from "./once-per-turn";
export { QueueChanges } from "./queue-changes";
export { RESULTS_PER_COMMIT, ResultRecorder } from "./result-recorder";
export { Backoff, monotonicWallClock } from "./timing";
export { startWaitingRows, type WaitingRows } from "./waiting-rows";
