/**
 * Common parts of the queues that send webhooks and e-mail: the loop that begins attempts, one pace that leaves
 * the processor to requests, results that share commits, waits after faults, and times that survive changes of
 * the clock.
 */
export { attemptOnce } from "./attempt-once";
export { createLoadThrottle, type LoadThrottle } from "./load-throttle";
export { QueueChanges } from "./queue-changes";
export { RESULTS_PER_COMMIT, ResultRecorder } from "./result-recorder";
export { SendingLoop } from "./sending-loop";
export { Backoff, monotonicWallClock } from "./timing";
export { startWaitingRows } from "./waiting-rows";
