/**
 * Authentication: passwords and their bounded verification, the throttle of sign-in, sessions, and
 * one-time links. Knows users only as rows that sessions belong to.
 */
export {
  findLink,
  type IssuedLink,
  issueLink,
  type LinkPurpose,
  type OneTimeLink,
  redeemLink,
  voidLinks,
} from "./links";
export { createPasswords, passwordError, type Passwords } from "./passwords";
export { SESSION_LIFETIME_MS } from "./rules";
export {
  createSessions,
  endSession,
  endSessionsOf,
  isSecure,
  listSessionsOf,
  type LiveSession,
  type SessionOrigin,
  type Sessions,
  startSession,
  sweepAuth,
} from "./sessions";
export { createLoginThrottle, type LoginThrottle } from "./throttle";
