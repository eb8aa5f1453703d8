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
export { authenticate, changePassword, endOneSession, endSessions, signIn } from "./sign-in";
export { stateOfUser } from "./rules";
export {
  createUser,
  disableUser,
  enableUser,
  findUserByEmail,
  getUser,
  hasUsers,
  isLastOwner,
  listLiveKeysOf,
  listUsers,
  renameUser,
  setRole,
  validateNewUser,
} from "./service";
export { findUser } from "./store";
