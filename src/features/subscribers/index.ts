/**
 * Subscribing to a page by e-mail: sign-ups and their limits, the decision which mail they get, links in mails,
 * choices, unsubscribing and erasing. Answers reveal nothing about an address.
 */
export {
  type Choosable,
  choicesOf,
  existingChoices,
  parseChoices,
  readChoosable,
  type TypedChoices,
} from "./choices";
export { confirmSignUp, declineSignUps } from "./confirm";
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
  type RequestLink,
  type SubscriberLink,
} from "./links";
export { changeChoices, eraseSubscriber, unsubscribe } from "./manage";
export { requestSubscription, signUpWait } from "./sign-up";
export { startSignUps } from "./sign-up-worker";
export { type SubscriberRow } from "./store";
export { SIGN_UP_TEMPLATES } from "./templates";
export { sweepSubscribers } from "./sweep";
