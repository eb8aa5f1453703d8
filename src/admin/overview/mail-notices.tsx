import type { Ctx } from "../../context";
import { type Role, roleAllows } from "../../base/actor";
import { findRelayRecord, type RelayRecord } from "../../features/mail/relay-record";
import { mailReadiness } from "../../features/mail/settings";
import { countSubscribers } from "../../features/subscribers/store";
import { listCrowdedPages } from "../../features/subscribers/sign-up";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { Notice } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import {
  HeldNotices,
  NOTHING_HELD,
  readHeldMailings,
  type HeldMailings,
} from "../mailings/notices";
import type { CurrentState } from "./current-state";

/** Troubles of e-mail to subscribers. */
export interface MailTroubles {
  /** Number of subscribers who get no messages, since e-mail is not set up any more. */
  unreached: number;
  /** Names of pages that take no sign-ups for a while. */
  crowded: readonly string[];
  /** Mailings that wait for an admin. */
  held: HeldMailings;
  /** State of the relay, if it is known. */
  relay: RelayRecord | undefined;
}

const NONE: MailTroubles = { unreached: 0, crowded: [], held: NOTHING_HELD, relay: undefined };

/** Reads the troubles that roles from admin see. */
export function readMailTroubles(
  ctx: Ctx,
  { pages }: Pick<CurrentState, "pages">,
  { role, now }: { role: Role; now: number },
): MailTroubles {
  if (!roleAllows(role, "admin")) return NONE;
  const held = readHeldMailings(ctx.db);
  if (mailReadiness(ctx).ready) {
    const crowded = new Set(listCrowdedPages(ctx.db, now));
    const names = pages.filter(({ page }) => crowded.has(page.id)).map(({ page }) => page.name);
    return { ...NONE, crowded: names, held, relay: findRelayRecord(ctx.db) };
  }
  return { ...NONE, unreached: countSubscribers(ctx.db).active, held };
}

/** Notices about e-mail to subscribers; nothing without a trouble. */
export function MailNotices({ troubles, now }: { troubles: MailTroubles; now: number }) {
  const { unreached, crowded, held, relay } = troubles;
  return (
    <>
      <RelayNotice relay={relay} now={now} />
      <HeldNotices held={held} now={now} />
      {unreached > 0 ? (
        <Notice tone="partial" title="E-mail is not set up">
          {plural(unreached, "subscriber")} {unreached === 1 ? "gets" : "get"} no messages. What
          happens in this time is not sent later.
        </Notice>
      ) : null}
      {crowded.length > 0 ? (
        <Notice tone="degraded" title="Too many people are signing up">
          {crowded.join(", ")}: the limit of sign-ups an hour is used up, so visitors cannot
          subscribe by e-mail for a while. If hardly any sign-up is confirmed, the limit is lower.
        </Notice>
      ) : null}
    </>
  );
}

/** Notice while the relay takes no mail, with its last reply. */
function RelayNotice({ relay, now }: { relay: RelayRecord | undefined; now: number }) {
  if (!relay || relay.isAvailable) return null;
  return (
    <Notice tone="partial" title="The mail relay is unavailable">
      Since <RelativeTime at={toIso(relay.since)} now={now} />: {relay.reply} Mails wait and are
      sent once it is available again.
    </Notice>
  );
}
