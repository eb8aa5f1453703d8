import { maskAddress } from "../../domain/mail-address";
import { requestConfirmation, recipientOf, type WebhookRecord } from "../../features/webhooks";
import { Notice, PostButton } from "../../ui";
import type { AdminDependencies } from "../dependencies";
import type { Area } from "../screens/area";
import { isUnconfirmed } from "./health";
import { pathsOfWebhook } from "./webhook-paths";

/** Notice of an endpoint whose address has not confirmed that it wants alerts. */
export function UnconfirmedNotice({ record }: { record: WebhookRecord }) {
  if (!isUnconfirmed(record)) return null;
  const { row } = record;
  return (
    <Notice tone="degraded" title="The address has not confirmed yet">
      <p>
        Nothing is sent until the owner of {maskAddress(recipientOf(row.url))} opens the link that
        was mailed to the address and confirms. The link is valid for 7 days.
      </p>
      <PostButton action={pathsOfWebhook(row.id).confirmation}>Mail the link again</PostButton>
    </Notice>
  );
}

/** Adds the action that mails the link for confirming again. */
export function addConfirmationRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.action("/:id/confirmation", {
    summary: "Mail the link for confirming alerts again",
    run: (tx, { params }, actor) => requestConfirmation(ctx, tx, params.id, actor),
    done: (hasMailed, { params }) => ({
      path: pathsOfWebhook(params.id).home,
      text: hasMailed
        ? "The link was mailed again."
        : "No mail was sent. One address gets a link at most every 10 minutes and three a day, and none after declining.",
    }),
  });
}
