/**
 * Who may use the dashboard: users and their roles, set-up and invitations by links that work once,
 * and sign-in. An installation that has users always has an owner.
 */
export {
  acceptLink,
  inviteUser,
  issuePasswordLink,
  issueSetUpLink,
  setUpOwner,
} from "./invitations";
export type { NewUser, UserResource } from "./model";
export {
  createUser,
  disableUser,
  enableUser,
  findUserByEmail,
  getUser,
  hasUsers,
  judgeNewUser,
  listLiveKeysOf,
  listUsers,
  renameUser,
  setRole,
  userActor,
} from "./service";
export { authenticate, changePassword, endOneSession, endSessions, signIn } from "./sign-in";
export type { UserRow } from "./store";
