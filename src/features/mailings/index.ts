/**
 * Mailings: events of which the subscribers of a page get mails, who gets each, and their content. A change
 * writes one mailing in its transaction; a worker then writes the mails in steps.
 */
export { type Audience, countAudience, countAudienceOf } from "./audience";
export { releaseHeldMailings, releaseMailing, stopMailing } from "./control";
export { MAILING_TEMPLATE } from "./expand";
export { countHeldByPage, listFailedMails } from "./list-store";
export {
  getMailing,
  listMailings,
  type MailingProgress,
  nameOfSubject,
  progressOf,
  waitingOf,
} from "./lists";
export { mailingsLeft, mailOfChange, recordMailings } from "./record";
export { limitReason, limitsInWords } from "./rules";
export { findMailing, type MailingRow } from "./store";
export { createMailingTemplate } from "./template";
export { startMailings } from "./worker";
