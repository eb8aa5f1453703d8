/**
 * Proving who somebody is: passwords and their bounded verification, the throttle of sign-in, the
 * sessions of browsers, and links that work once. Knows users only as rows that sessions belong to.
 */
export { issueLink, type Link, type LinkPurpose, findLink, useLink, voidLinks } from "./links";
export { createPasswords, judgePassword, type Passwords } from "./passwords";
export {
  createSessions,
  endSession,
  endSessionsOf,
  listSessionsOf,
  type LiveSession,
  type Sessions,
  startSession,
} from "./sessions";
export { sweepAuth } from "./sweep";
export { createLoginThrottle, type LoginThrottle } from "./throttle";
