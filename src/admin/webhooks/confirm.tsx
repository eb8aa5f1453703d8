import { webhookName, type WebhookRow } from "../../features/webhooks";
import { Actions, Button, ButtonLink, DialogBody, Form, FormErrors, MomentField } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { pathsOfWebhook } from "./webhook-paths";

/** Asks before an endpoint gets another secret. */
export function RotateSecret({ row, formToken }: { row: WebhookRow; formToken: string }) {
  const paths = pathsOfWebhook(row.id);
  const isOverlapping = row.previousSecret !== null;
  return (
    <DialogBody title={`Rotate the secret of “${webhookName(row)}”?`}>
      <Form action={paths.ask("rotate")} hidden={{ form: formToken }}>
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
        <Actions>
          <Button kind="primary">Rotate secret</Button>
          <ButtonLink href={paths.home} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}

/** Asks before nothing more is sent to an endpoint. */
export function DisableWebhook({ row }: { row: WebhookRow }) {
  const paths = pathsOfWebhook(row.id);
  return (
    <DialogBody title={`Disable “${webhookName(row)}”?`}>
      <Form action={paths.ask("disable")}>
        <p>
          Nothing more is sent to it until it is enabled again. What waits is cancelled; you can
          redeliver it then.
        </p>
        <Actions>
          <Button kind="danger">Disable webhook</Button>
          <ButtonLink href={paths.home} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}

/** Asks before an endpoint is gone. */
export function DeleteWebhook({ row }: { row: WebhookRow }) {
  const paths = pathsOfWebhook(row.id);
  return (
    <DialogBody title={`Delete “${webhookName(row)}”?`}>
      <Form action={paths.ask("delete")}>
        <p>
          Nothing more is sent to it, what waits is cancelled, and its secret is gone. This cannot
          be undone. To stop it for a while, disable it.
        </p>
        <Actions>
          <Button kind="danger">Delete webhook</Button>
          <ButtonLink href={paths.home} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
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
    <DialogBody title={`Redeliver what failed to “${webhookName(row)}”?`}>
      <Form action={paths.ask("redeliver")}>
        <FormErrors errors={wrong.all} />
        <p>
          Everything that was queued since then and has failed or was cancelled is sent once more,
          in its order. Events keep their ids, by which a receiver drops what it has had.
        </p>
        <MomentField
          label={LABELS.since}
          name="since"
          value={since}
          error={wrong.about("since")}
          required
        />
        <Actions>
          <Button kind="primary">Redeliver</Button>
          <ButtonLink href={paths.home} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}
