import { webhookName, type WebhookRow } from "../../features/webhooks";
import { DialogForm, ErrorSummary, DateTimeField } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { pathsOfWebhook } from "./webhook-paths";

/** Asks before an endpoint gets another secret. */
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
        The webhook gets a new secret, which is shown once. For 24 hours both the new one and the
        present one sign every request, so that the receiver can change over without losing any.
      </p>
      {isOverlapping ? (
        <p>
          It was rotated before: the secret that was replaced then stops signing at once if it has
          not yet.
        </p>
      ) : null}
    </DialogForm>
  );
}

/** Asks before nothing more is sent to an endpoint. */
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
        Nothing more is sent to it until it is enabled again. What waits is cancelled; you can
        redeliver it then.
      </p>
    </DialogForm>
  );
}

/** Asks before an endpoint is gone. */
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
        Nothing more is sent to it, what waits is cancelled, and its secret is gone. This cannot be
        undone. To stop it for a while, disable it.
      </p>
    </DialogForm>
  );
}

const LABELS = { since: "Queued since (UTC)" };

interface RedeliverFailedProps {
  row: WebhookRow;
  /** A moment in UTC as a field has it. */
  since: string;
  complaints: Complaints;
}

/** Asks since when all that never arrived is to be sent once more. */
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
        Everything that was queued since then and has failed or was cancelled is sent once more, in
        its order. Events keep their ids, by which a receiver drops what it has had.
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
