import type { Reader } from "../../db/statements";
import type { MailHold } from "../../base/mail-address";
import { findMailHold, listMailHolds, suppressionsOfHold } from "../../features/mail/hold";
import { countHeldByPage } from "../../features/mailings/list-store";
import { limitsInWords } from "../../features/mailings/rules";
import { plural } from "../../base/text";
import { DAY_MS, toIso } from "../../base/time";
import { Notice } from "../../ui/blocks";
import { PostButton } from "../../ui/buttons";
import { RelativeTime } from "../../ui/times";
import { readPages } from "../../ui/frame/page-choice";
import { MAILINGS_PATH } from "../../ui/frame/paths";
import { figure } from "./words";
import { GO_ON_PATH, releaseOfPagePath, suppressionsPath } from "./mailing-paths";

/** Time after the end of a hold in which its suppressions are listed. */
const OFFERED_FOR_MS = 30 * DAY_MS;

/** Mailings that wait for an admin. */
export interface HeldMailings {
  /** Hold of all mailings; undefined if they are sent. */
  hold: MailHold | undefined;
  /** Holds with suppressions that an admin can end, newest first. */
  undoable: readonly { hold: MailHold; count: number }[];
  pages: readonly { id: string; name: string; slug: string; count: number }[];
}

export const NOTHING_HELD: HeldMailings = { hold: undefined, undoable: [], pages: [] };

/** Reads what waits for an admin, without suppressions. */
export function readHeldMailings(reader: Reader): HeldMailings {
  const names = new Map(readPages(reader).map((page) => [page.id, page]));
  return {
    hold: findMailHold(reader),
    undoable: [],
    pages: countHeldByPage(reader, {}).flatMap(({ pageId, count }) => {
      const page = names.get(pageId);
      return page ? [{ id: page.id, name: page.name, slug: page.slug, count }] : [];
    }),
  };
}

/** Reads the holds with suppressions that an admin can end, newest first. `now` is in unix ms. */
export function readUndoable(reader: Reader, now: number): HeldMailings["undoable"] {
  const offered = listMailHolds(reader).filter(
    ({ reason, endedAt }) =>
      reason === "failures" && (endedAt === null || now - endedAt < OFFERED_FOR_MS),
  );
  return offered
    .map((hold) => ({ hold, count: suppressionsOfHold(reader, hold, now).length }))
    .filter(({ count }) => count > 0)
    .toReversed();
}

/** Notices about held mailings, with the buttons that release them. */
export function HeldNotices({ held, now }: { held: HeldMailings; now: number }) {
  const { hold, undoable, pages } = held;
  return (
    <>
      {hold ? <HoldNotice hold={hold} now={now} /> : null}
      {undoable.map(({ hold: one, count }) => (
        <Notice key={one.at} tone="degraded" title={`${countAddresses(count)} suppressed`}>
          {count === 1 ? "It gets" : "They get"} no more mail, since mails to{" "}
          {count === 1 ? "it" : "them"} failed when mailings were held{" "}
          <RelativeTime at={toIso(one.at)} now={now} />. If the relay was at fault,{" "}
          <a href={suppressionsPath(one.at)}>end the suppressions</a>.
        </Notice>
      ))}
      {pages.map(({ id, name, slug, count }) => (
        <Notice key={id} tone="degraded" title={`${plural(count, "mailing")} of ${name} held`}>
          <p>
            In 24 hours a page sends at most {limitsInWords()} without an admin. Release the others,
            or <a href={`${MAILINGS_PATH}?page=${encodeURIComponent(slug)}`}>stop single ones</a>.
          </p>
          <PostButton action={releaseOfPagePath(id)}>
            Release {count === 1 ? "mailing" : "mailings"}
          </PostButton>
        </Notice>
      ))}
    </>
  );
}

function HoldNotice({ hold, now }: { hold: MailHold; now: number }) {
  const since = <RelativeTime at={toIso(hold.at)} now={now} />;
  return (
    <Notice tone="major" title="All mailings are held">
      {hold.reason === "failures" ? (
        <p>
          Since {since}: more than 20 of the last 100 mails failed. Look at the{" "}
          <a href={MAILINGS_PATH}>relay&apos;s replies</a>, then release them. All other mail is
          sent.
        </p>
      ) : (
        <p>
          Since {since}: a backup was restored, and it is not known who unsubscribed after it was
          made. Once released, mailings also go to these people. All other mail is sent.
        </p>
      )}
      <PostButton action={GO_ON_PATH}>Release all mailings</PostButton>
    </Notice>
  );
}

/** Returns a number of addresses with its noun. */
export function countAddresses(count: number): string {
  return count === 1 ? "1 address" : `${figure(count)} addresses`;
}
