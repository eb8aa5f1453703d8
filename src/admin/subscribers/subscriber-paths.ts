import type { SuppressionReason } from "../../base/mail-address";
import { subscriberPath, SUBSCRIBERS_PATH } from "../../ui/frame/paths";
import { listPath } from "../../features/timeline/screens/list";

/** Returns the path of the list of a page's subscribers. */
export function subscribersOfPagePath(slug: string): string {
  return listPath(SUBSCRIBERS_PATH, { page: slug });
}

/** Returns the path of the form that adds a subscriber to a page. */
export function newSubscriberPath(slug: string): string {
  return listPath(`${SUBSCRIBERS_PATH}/new`, { page: slug });
}

/** Returns the paths of a subscriber's screens and forms. */
export function pathsOfSubscriber(id: string) {
  const home = subscriberPath(id);
  return {
    home,
    edit: `${home}/edit`,
    links: `${home}/links`,
    block: `${home}/block`,
    remove: `${home}/remove`,
    /** Returns the path of the form that ends a suppression. */
    reactivate: (reason: SuppressionReason) => `${home}/reactivate/${reason}`,
    /** Returns the path of the list of mails before an id. */
    mailsBefore: (before: string | undefined) => listPath(home, { before }),
    sendAgain: (mailId: string) => `${home}/mails/${encodeURIComponent(mailId)}/send-again`,
  };
}

export const IMPORT_PATH = `${SUBSCRIBERS_PATH}/import`;
export const EXPORT_PATH = `${SUBSCRIBERS_PATH}/export`;
export const ERASE_PATH = `${SUBSCRIBERS_PATH}/erase`;

/** Returns the path of the form for erasing the address of a subscriber, which is not in the path itself. */
export function eraseSubscriberPath(id: string): string {
  return `${ERASE_PATH}?subscriber=${encodeURIComponent(id)}`;
}

/** Largest file of an import, in bytes. The command takes any size. */
export const IMPORT_FILE_MAX_BYTES = 900 * 1024;
