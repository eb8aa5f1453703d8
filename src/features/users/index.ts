/**
 * Users of the dashboard: roles, set-up and invitations by one-time links, and sign-in. An
 * installation with users always has an owner.
 */
export {
  acceptLink,
  inviteUser,
  issuePasswordLink,
  issueSetUpLink,
  linkPath,
  type PasswordLink,
  SET_UP_LINK_MS,
  setUpOwner,
} from "./invitations";
export type { NewUser, UserResource } from "./model";
export { changePassword } from "./password";
export { stateOfUser } from "./rules";
export {
  createUser,
  disableUser,
  enableUser,
  findUserByEmail,
  getUser,
  hasUsers,
  isLastOwner,
  validateNewUser,
  listLiveKeysOf,
  listUsers,
  renameUser,
  setRole,
} from "./service";
export { endOneSession, endSessions } from "./sessions";
export { authenticate, signIn } from "./sign-in";
export type { UserRow } from "./store";
