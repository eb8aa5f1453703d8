/**
 * Authentication: passwords, the throttle of sign-in, sessions, and one-time links. Invitations,
 * roles and sign-in itself are in `users/`, which imports this module.
 */
export {
  addLink,
  findLink,
  type IssuedLink,
  issueLink,
  type LinkPurpose,
  type OneTimeLink,
  redeemLink,
  endLinks,
} from "./links";
export { createPasswords, passwordError, type Passwords } from "./passwords";
export { isHttps, SESSION_LIFETIME_MS } from "./rules";
export {
  createSessions,
  endSession,
  endSessionsOf,
  listSessionsOf,
  type LiveSession,
  type SessionOrigin,
  type Sessions,
  startSession,
  sweepAuth,
} from "./sessions";
export { createLoginThrottle, type LoginThrottle } from "./throttle";
