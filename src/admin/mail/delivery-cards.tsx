import type { ComponentChildren } from "preact";
import type { MailClass } from "../../base/mail-address";
import type { RelayRecord } from "../../features/mail/relay-record";
import type { WaitingMails } from "../../features/mail/delivery";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { ButtonLink } from "../../ui/buttons";
import { DetailCard, DetailRow } from "../../ui/detail";
import { Facts, Shape, State } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import {
  MAIL_REPORTS_PATH,
  MAIL_REVOKE_PATH,
  MAIL_TOKEN_PATH,
  SUPPRESSIONS_PATH,
} from "./mail-paths";

/** Names of the classes of mails, in the order in which they are sent. */
const CLASS_LABELS: Readonly<Record<MailClass, string>> = {
  1: "Accounts and sign-ups",
  2: "Alerts",
  3: "Mailings to subscribers",
};

/** State of the relay as the sender last saw it. */
export function RelayFacts({ relay, now }: { relay: RelayRecord | undefined; now: number }) {
  if (!relay) return <p class="detail-note">Nothing was sent through the relay yet.</p>;
  const since = <RelativeTime at={toIso(relay.since)} now={now} />;
  if (relay.isAvailable) return <p class="detail-note">The relay is available since {since}.</p>;
  return (
    <>
      <p>
        <State tone="major">The relay is unavailable</State>
      </p>
      <p class="detail-note">
        Since {since}. {relay.reply}
      </p>
      <p class="detail-note">
        {relay.nextTryAt === null || relay.nextTryAt <= now ? (
          "The next mail is the next attempt."
        ) : (
          <>
            Next attempt <RelativeTime at={toIso(relay.nextTryAt)} now={now} />.
          </>
        )}{" "}
        Mails wait, and none is lost.
      </p>
    </>
  );
}

/** Mails that wait, by class. */
export function QueueCard({ waiting, now }: { waiting: readonly WaitingMails[]; now: number }) {
  return (
    <DetailCard title="Queue" liveId="mail-queue" isFlush>
      <Facts
        items={waiting.map(({ class: one, count, oldestAt }) => ({
          label: CLASS_LABELS[one],
          value: <Waiting count={count} oldestAt={oldestAt} now={now} />,
        }))}
      />
    </DetailCard>
  );
}

function Waiting({ count, oldestAt, now }: Omit<WaitingMails, "class"> & { now: number }) {
  if (count === 0) return <>None</>;
  return (
    <>
      {count.toLocaleString("en")}
      {oldestAt === undefined ? null : (
        <>
          , oldest <RelativeTime at={toIso(oldestAt)} now={now} />
        </>
      )}
    </>
  );
}

interface ReturnsProps {
  /** Number of unmatched reports. */
  unmatched: number;
  /** Time at which the token was made (unix ms); undefined without one. */
  tokenAt: number | undefined;
  now: number;
}

/** Links about what came back: suppressed addresses, unmatched reports, and the token by which reports come. */
export function ReturnsCard({ unmatched, tokenAt, now }: ReturnsProps) {
  return (
    <DetailCard title="Bounces and complaints" liveId="mail-returns" isStill isFlush>
      <ul class="detail-rows">
        <DetailRow
          shape={<Shape tone="none" />}
          href={SUPPRESSIONS_PATH}
          title="Suppressed addresses"
          note="Addresses that get no mail of some kinds, and why."
        />
        <DetailRow
          shape={<Shape tone={unmatched > 0 ? "degraded" : "none"} />}
          href={MAIL_REPORTS_PATH}
          title="Unmatched reports"
          note={
            unmatched === 0
              ? "None in the last 30 days."
              : `${plural(unmatched, "report")} in the last 30 days.`
          }
        />
      </ul>
      <div class="detail-foot">
        <TokenState tokenAt={tokenAt} now={now} />
      </div>
    </DetailCard>
  );
}

function TokenState({
  tokenAt,
  now,
}: {
  tokenAt: number | undefined;
  now: number;
}): ComponentChildren {
  if (tokenAt === undefined) {
    return (
      <>
        <p class="hint">
          With a token, a mail server or a provider reports bounces and complaints here. It grants
          nothing else.
        </p>
        <div class="actions">
          <ButtonLink href={MAIL_TOKEN_PATH} dialog>
            Create token
          </ButtonLink>
        </div>
      </>
    );
  }
  return (
    <>
      <p class="hint">
        Token for reports: created <RelativeTime at={toIso(tokenAt)} now={now} />.
      </p>
      <div class="actions">
        <ButtonLink href={MAIL_TOKEN_PATH} dialog>
          Replace token
        </ButtonLink>
        <ButtonLink href={MAIL_REVOKE_PATH} dialog>
          Revoke token
        </ButtonLink>
      </div>
    </>
  );
}
