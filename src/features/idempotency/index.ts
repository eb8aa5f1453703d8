/**
 * Requests that may be sent again: the answer to a POST with an Idempotency-Key is kept for a day, in
 * the transaction of what it made, so that sending the same again makes one thing and is told the same.
 */
export { type Answer, answerOnce, sweepAnswers } from "./service";
