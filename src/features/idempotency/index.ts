/**
 * Idempotency keys: the answer to a POST with an Idempotency-Key is stored for a day, in the
 * transaction of its change, so that a repeated request has one effect and gets the same answer.
 */
export { type Answer, answerOnce, sweepAnswers } from "./service";
