import { webhookName, type WebhookRow } from "../../features/webhooks";
import { DialogForm, ErrorSummary, DateTimeField } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { pathsOfWebhook } from "./webhook-paths";

/** Asks before the secret of an endpoint is rotated. */
export function RotateSecret({ row, formToken }: { row: WebhookRow; formToken: string }) {
  const paths = pathsOfWebhook(row.id);
  const isOverlapping = row.previousSecret !== null;
  return (
    <DialogForm
      title={`Rotate the secret of “${webhookName(row)}”`}
      action={paths.ask("rotate")}
      hidden={{ form: formToken }}
      button="Rotate secret"
      cancelHref={paths.home}
    >
      <p>
        The webhook gets a new secret, which is shown once. For 24 hours both the new and the
        current secret sign every request, so that the receiver can switch without losing any.
      </p>
      {isOverlapping ? (
        <p>The secret was rotated before: the one replaced then stops signing at once.</p>
      ) : null}
    </DialogForm>
  );
}

/** Asks before an endpoint is disabled. */
export function DisableWebhook({ row }: { row: WebhookRow }) {
  const paths = pathsOfWebhook(row.id);
  return (
    <DialogForm
      title={`Disable “${webhookName(row)}”`}
      action={paths.ask("disable")}
      button="Disable webhook"
      isDanger
      cancelHref={paths.home}
    >
      <p>
        Nothing more is sent until you enable the webhook again. Waiting deliveries are cancelled;
        you can redeliver them then.
      </p>
    </DialogForm>
  );
}

/** Asks before an endpoint is deleted. */
export function DeleteWebhook({ row }: { row: WebhookRow }) {
  const paths = pathsOfWebhook(row.id);
  return (
    <DialogForm
      title={`Delete “${webhookName(row)}”`}
      action={paths.ask("delete")}
      button="Delete webhook"
      isDanger
      cancelHref={paths.home}
    >
      <p>
        Nothing more is sent, waiting deliveries are cancelled, and the secret is deleted. This
        cannot be undone. To stop the webhook for a while, disable it.
      </p>
    </DialogForm>
  );
}

const LABELS = { since: "Queued since (UTC)" };

interface RedeliverFailedProps {
  row: WebhookRow;
  /** Field text in UTC. */
  since: string;
  complaints: Complaints;
}

/** Asks for the time from which failed deliveries are sent again. */
export function RedeliverFailed({ row, since, complaints }: RedeliverFailedProps) {
  const paths = pathsOfWebhook(row.id);
  const wrong = wording(complaints, LABELS);
  return (
    <DialogForm
      title={`Redeliver what failed to “${webhookName(row)}”`}
      action={paths.ask("redeliver")}
      button="Redeliver"
      cancelHref={paths.home}
    >
      <ErrorSummary errors={wrong.all} />
      <p>
        Deliveries queued since then that failed or were cancelled are sent again, in order. Events
        keep their ids, so receivers can ignore duplicates.
      </p>
      <DateTimeField
        label={LABELS.since}
        name="since"
        value={since}
        error={wrong.about("since")}
        required
      />
    </DialogForm>
  );
}
