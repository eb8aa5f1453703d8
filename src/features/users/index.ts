/**
 * Users of the dashboard: roles, set-up and invitations by one-time links, and sign-in. An
 * installation with users always has an owner.
 */
export {
  areResetMailsOn,
  canResetByMail,
  FORGOT_PATH,
  forgottenEmail,
  requestPassword,
  setResetMails,
} from "./forgot";
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
export { startUserMails, sweepUserMails } from "./mail-worker";
export { findMailTrouble, type MailTrouble } from "./mails";
export { readPreferences, setKeyWarnings } from "./key-warnings";
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
export { USER_TEMPLATES } from "./templates";
