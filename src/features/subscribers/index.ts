/**
 * Subscribing to a page by e-mail: sign-ups and their limits, the decision which mail they get, links in mails,
 * choices, unsubscribing and erasing. Answers reveal nothing about an address.
 */
export {
  type Choosable,
  choicesOf,
  existingChoices,
  namesOfTargets,
  parseChoices,
  readChoosable,
  type TypedChoices,
} from "./choices";
export { addConsentedSubscriber, CONSENT_MAX, readConsent } from "./consent";
export { confirmSignUp, consentText, declineSignUps } from "./confirm";
export { SIGN_UP_RESULTS } from "./decide";
export { eraseAddress } from "./erase";
export { exportSubscribers, listSubscribedPages, recordExport } from "./export";
export {
  IMPORT_RESULTS,
  type ImportCounts,
  importSubscribers,
  requireImportable,
  RESULT_WORDS,
} from "./import";
export { type BadLine, IMPORT_COLUMNS, readImportFile } from "./import-file";
export { LISTED_STATUSES, listSubscribersOfPage, type SubscriberLine } from "./listing";
export { createChoicesReader } from "./refs";
export {
  deadLink,
  type LinkUse,
  mailLink,
  mailPath,
  managePath,
  openConfirmation,
  openDecline,
  openManagement,
  openUnsubscribing,
  type SubscriberLink,
} from "./links";
export {
  type BoundedCount,
  countSubscribersOfPage,
  type ListedSignUp,
  type ListedSubscriber,
  listSignUps,
  listSubscribers,
  STOPPING_REASONS,
  type StoppingReason,
  type SubscriberCounts,
} from "./list";
export type { ListPart } from "./list-parts";
export { changeChoices, eraseSubscriber, unsubscribe } from "./manage";
export {
  blockSubscriber,
  NOTE_MAX,
  reactivateSubscriber,
  type ShownSuppression,
  suppressionsOfSubscriber,
} from "./reactivate";
export { resendMail } from "./resend";
export { listCrowdedPages, requestSubscription } from "./sign-up";
export { type SignUpFigures, startSignUps } from "./sign-up-worker";
export {
  countSubscribers,
  findSubscriber,
  listSubscribersOfAddress,
  type SubscriberRow,
} from "./store";
export { listSubscriberMails, type SubscriberMail } from "./subscriber-mails";
export {
  getSubscriber,
  invalidateLinks,
  type InvitationResult,
  inviteSubscriber,
  removeSubscriber,
  updateSubscriber,
} from "./team";
export { SIGN_UP_TEMPLATES } from "./templates";
export { sweepSubscribers } from "./sweep";
