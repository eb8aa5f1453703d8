import { describeMissing } from "../../features/mail/test-mail";
import type { MailReadiness } from "../../features/mail/settings";
import type { MailTrouble } from "../../features/users/mails";
import { toIso } from "../../base/time";
import { DetailCard } from "../../ui/detail";
import { Notice, State } from "../../ui/blocks";
import { PostButton } from "../../ui/buttons";
import { RelativeTime } from "../../ui/times";
import { MAIL_PATH, USERS_PATH } from "../../ui/frame/paths";

const MAIL_NAMES: Readonly<Record<string, string>> = {
  invitation: "invitation",
  password_reset: "mail with a reset link",
  password_changed: "mail about the changed password",
};

/** Explains why the last mail to a user did not go out. */
export function MailTroubleNotice({ trouble, now }: { trouble: MailTrouble; now: number }) {
  const { template, isWaiting, reply, at } = trouble;
  const name = MAIL_NAMES[template] ?? "last mail";
  return (
    <Notice
      tone={isWaiting ? "degraded" : "major"}
      title={`The ${name} ${isWaiting ? "waits, and is tried again" : "could not be sent"}`}
    >
      <p>
        {isWaiting ? "Queued" : "Failed"} <RelativeTime at={toIso(at)} now={now} />.
        {reply === null ? "" : ` The relay's reply: ${reply}`}
      </p>
    </Notice>
  );
}

/** Card with which owners decide if users get links for new passwords by mail. */
export function ResetMailsCard({ isOn, readiness }: { isOn: boolean; readiness: MailReadiness }) {
  return (
    <DetailCard
      title="Password resets by e-mail"
      liveId="reset-mails"
      isStill
      end={
        <PostButton action={`${USERS_PATH}/reset-mails`} name="turn" value={isOn ? "off" : "on"}>
          {isOn ? "Turn off" : "Turn on"}
        </PostButton>
      }
    >
      <p>
        <State tone={isOn && readiness.ready ? "ok" : "none"} isPaused={!isOn}>
          {isOn ? (readiness.ready ? "On" : "On, but mail cannot be sent") : "Off"}
        </State>
      </p>
      <p class="detail-note">
        Users who forgot their password can ask for a link on the sign-in screen. It works for an
        hour and ends all of their sessions.
        {readiness.ready ? null : (
          <>
            {" "}
            <a href={MAIL_PATH}>Mail settings</a>: mail needs {describeMissing(readiness.missing)}{" "}
            first.
          </>
        )}
      </p>
    </DetailCard>
  );
}
