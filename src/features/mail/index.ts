/**
 * E-mail: the queue of mails, sending them through the relay, addresses that get none, the messages, and the
 * key of the installation from which links are derived. Knows neither pages nor subscribers beyond their ids.
 */
export { ALERTS_AS_PAGE, hasStoppedAlerts } from "./alert-stop-store";
export { type ComposedMail, toMessage } from "./compose";
export { type Delivery, readDelivery, type WaitingMails } from "./delivery";
export { queueDirectly } from "./direct-mails";
export { deleteCancelledMail, findEarlierMail, listMailsAbout } from "./direct-store";
export { displayPhrase, headerText } from "./header";
export {
  findMailHold,
  holdAllMailings,
  listMailHolds,
  releaseAllMailings,
  suppressionsOfHold,
  undoSuppressions,
} from "./hold";
export { type Block, type ComponentEntry, isRtlLocale, type Letter } from "./letter/letter";
export { createMoments, type Moments } from "./letter/moments";
export { type RenderedLetter, renderLetter, renderPlace } from "./letter/render";
export {
  alreadySubscribedLetter,
  alreadySubscribedSubject,
  confirmationLetter,
  confirmationSubject,
  footerOf,
  type SignUp,
} from "./letter/sign-up";
export {
  cancelMailsOfSubscriber,
  enqueueMails,
  enqueueMailsTo,
  type NewMail,
  supersedeMailing,
  supersedeMails,
  wakeSender,
} from "./queue";
export { findMail, type MailRow } from "./queue-store";
export { encodeAround, type EncodedText, encodeShared, type SharedText } from "./quoted-printable";
export { findRelayRecord, type RelayRecord } from "./relay-record";
export { findReport, listReportsOfMail, listUnmatched, type ReportRow } from "./reports/store";
export { eraseReportsAbout, takeReport } from "./reports/take-reports";
export {
  findReportToken,
  isReportToken,
  makeReportToken,
  revokeReportToken,
} from "./reports/token";
export { ENDED_BY_CONFIRMING } from "./rules";
export { MAIL_RESULTS, type MailSender, type SenderFigures } from "./sending/model";
export { startSending } from "./sending/sender";
export { relayTakesUtf8 } from "./relay-offers";
export {
  type MailReadiness,
  mailReadiness,
  mailSetters,
  type MailSettings,
  type MailSettingsInput,
  readMailSettings,
  readStoredMailSettings,
  removeMailSettings,
  setMailSettings,
} from "./settings";
export { RelayFault, type Reply, STEP_NAMES, withoutAddresses } from "./smtp/reply";
export type { TestMailResult } from "./smtp/send-test-mail";
export type { StoredMailSettings } from "./stored-settings";
export {
  type CausedSuppression,
  listSuppressionsOf,
  removeNotesOfMails,
  type SuppressionRow,
} from "./suppression-store";
export {
  countSuppressedAddresses,
  endSuppressions,
  findSuppression,
  suppress,
} from "./suppressions";
export {
  endByAdmin,
  getSuppressed,
  type ListedSuppression,
  listSuppressed,
  suppressionsOfAddress,
  type Undo,
  undoOf,
  undoSuppression,
} from "./undo";
export type { MailTemplate, TemplateEnvironment, Templates } from "./templates";
export { beginTestMail, describeMissing } from "./test-mail";
export {
  addressHmac,
  ensureMailKey,
  findMailKey,
  isTokenOf,
  type LinkPurpose,
  type MailKey,
  subjectOfToken,
  tokenOf,
} from "./tokens";
export { trimMails } from "./trim";
export { bounceMac } from "./verp";
export { waitingMails } from "./waiting";

export { readReport } from "./reports/take-reports";
export { sendTestMail } from "./test-mail";
