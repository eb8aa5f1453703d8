import type { Reader } from "../../db/statements";
import { NEWEST } from "../../base/ids";
import { signUpSubject } from "./decide";
import { listMailsOfSubscriber, listSignUpMailsOfPage } from "./mail-store";
import type { ListPart } from "./list-parts";
import type { SubscriberRow } from "./store";

export type SubscriberMail = ReturnType<typeof listMailsOfSubscriber>[number];

/** Lists the mails to a subscriber, with those that answered sign-ups on the page, newest first. */
export function listSubscriberMails(
  reader: Reader,
  { id: subscriberId, pageId, addressHmac }: SubscriberRow,
  { before = NEWEST, limit }: { before?: string | undefined; limit: number },
): ListPart<SubscriberMail> {
  const part = { before, limit: limit + 1 };
  const subjectId = signUpSubject(addressHmac);
  const found = [
    ...listMailsOfSubscriber(reader, { subscriberId, ...part }),
    ...listSignUpMailsOfPage(reader, { subjectId, pageId, ...part }),
  ];
  const rows = [...new Map(found.map((mail) => [mail.id, mail])).values()].sort((a, b) =>
    a.id < b.id ? 1 : -1,
  );
  const shown = rows.slice(0, limit);
  return { rows: shown, nextBefore: rows.length > limit ? shown.at(-1)?.id : undefined };
}
