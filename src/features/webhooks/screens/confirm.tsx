import { DialogForm } from "../../../ui/form";
import { FormFields } from "../../../ui/forms/fields";
import type { StateOf } from "../../../ui/forms/form";
import type { WebhookRow } from "../store";
import { REDELIVER_FORM } from "./forms";
import { pathsOfWebhook } from "./read";

interface ConfirmProps {
  title: string;
  row: WebhookRow;
}

/** Asks before the secret of an endpoint is rotated. `hidden` is the form token. */
export function RotateSecret(props: ConfirmProps & { hidden: Readonly<Record<string, string>> }) {
  const { title, row, hidden } = props;
  const paths = pathsOfWebhook(row.id);
  return (
    <DialogForm
      title={title}
      action={paths.rotate}
      hidden={hidden}
      button="Rotate secret"
      cancelHref={paths.home}
    >
      <p>
        The webhook gets a new secret, which is shown once. For 24 hours, requests are signed with
        the new and the current secret, so that you can update the receiver in time.
      </p>
      {row.previousSecret === null ? null : (
        <p>The previous secret, from an earlier rotation, stops signing requests at once.</p>
      )}
    </DialogForm>
  );
}

/** Asks before an endpoint is disabled. */
export function DisableWebhook({ title, row }: ConfirmProps) {
  const paths = pathsOfWebhook(row.id);
  return (
    <DialogForm
      title={title}
      action={paths.disable}
      button="Disable webhook"
      isDanger
      cancelHref={paths.home}
    >
      <p>
        No events are sent until you enable the webhook again. Pending deliveries are cancelled. You
        can redeliver them later.
      </p>
    </DialogForm>
  );
}

/** Asks for the time from which failed deliveries are sent again. */
export function RedeliverFailed(props: ConfirmProps & { state: StateOf<typeof REDELIVER_FORM> }) {
  const { title, row, state } = props;
  const paths = pathsOfWebhook(row.id);
  return (
    <DialogForm title={title} action={paths.redeliver} button="Redeliver" cancelHref={paths.home}>
      <FormFields form={REDELIVER_FORM} state={state}>
        <p>
          Failed and cancelled deliveries that were queued since this time are sent again, in order.
          Events keep their ids, so receivers can ignore duplicates.
        </p>
      </FormFields>
    </DialogForm>
  );
}
