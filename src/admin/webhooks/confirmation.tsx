import { maskAddress } from "../../base/mail-address";
import { describeQuestion, type Question } from "../../features/webhooks/alerts/question";
import { recipientOf } from "../../features/webhooks/recipient";
import { requestConfirmation } from "../../features/webhooks/update";
import type { WebhookRow } from "../../features/webhooks/store";
import { Notice } from "../../ui/blocks";
import { PostButton } from "../../ui/buttons";
import type { AdminDependencies } from "../../ui/frame/dependencies";
import type { Area } from "../../ui/screens/area";
import { pathsOfWebhook } from "./webhook-paths";

interface UnconfirmedNoticeProps {
  row: WebhookRow;
  question: Question;
  now: number;
}

/** Notice of an endpoint whose address has not confirmed that it wants alerts. */
export function UnconfirmedNotice({ row, question, now }: UnconfirmedNoticeProps) {
  if (question.state === "refused") {
    return (
      <Notice tone="degraded" title="The address gets no alerts">
        {describeQuestion(question, now)} An owner can end that among the suppressed addresses of
        the mail settings.
      </Notice>
    );
  }
  return (
    <Notice tone="degraded" title="The address has not confirmed yet">
      <p>
        Nothing is sent until the owner of {maskAddress(recipientOf(row.url))} opens a link and
        confirms. {describeQuestion(question, now)}
      </p>
      {question.state === "waiting" ? null : (
        <PostButton action={pathsOfWebhook(row.id).confirmation}>
          {question.state === "unasked" ? "Mail the link" : "Mail the link again"}
        </PostButton>
      )}
    </Notice>
  );
}

/** Adds the action that mails the link for confirming again. */
export function addConfirmationRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.action("/:id/confirmation", {
    summary: "Mail the link for confirming alerts again",
    run: (tx, { params }, actor) => requestConfirmation(ctx, tx, params.id, actor),
    done: (dueAt, { params }) => ({
      path: pathsOfWebhook(params.id).home,
      text:
        dueAt === undefined
          ? "No mail was sent. One address gets a link at most every 10 minutes and three a day, all addresses together 20 an hour and 100 a day."
          : "The link will be mailed.",
    }),
  });
}
