import type { SuppressionReason } from "../../base/mail-address";
import type { SubscriberRow } from "../../features/subscribers/store";
import { DialogForm } from "../../ui/form";
import type { StateOf } from "../../ui/forms/form";
import { FormInputs } from "../../ui/forms/fields";
import { BLOCK_FORM, REACTIVATE_FORM } from "./forms";
import { pathsOfSubscriber } from "./subscriber-paths";

interface ConfirmProps {
  title: string;
  row: SubscriberRow;
}

/** Asks before a subscription is ended. */
export function RemoveSubscriber({ title, row }: ConfirmProps) {
  const paths = pathsOfSubscriber(row.id);
  return (
    <DialogForm
      title={title}
      action={paths.remove}
      button="Remove subscriber"
      isDanger
      cancelHref={paths.home}
    >
      <p>
        The address gets no more messages about this page, as if the person had unsubscribed. Only
        the person can subscribe again, by confirming. The address is removed after 30 days.
      </p>
    </DialogForm>
  );
}

/** Asks before the links in earlier messages are made invalid. */
export function InvalidateLinks({ title, row }: ConfirmProps) {
  const paths = pathsOfSubscriber(row.id);
  return (
    <DialogForm
      title={title}
      action={paths.links}
      button="Make links invalid"
      cancelHref={paths.home}
    >
      <p>
        Links in messages that were sent so far then no longer lead to the person’s choices, for
        example if a message was forwarded. Links to unsubscribe stay valid. The next message has a
        new link.
      </p>
    </DialogForm>
  );
}

/** Asks before an address is blocked. */
export function BlockAddress(props: ConfirmProps & { state: StateOf<typeof BLOCK_FORM> }) {
  const { title, row, state } = props;
  const paths = pathsOfSubscriber(row.id);
  return (
    <DialogForm
      title={title}
      action={paths.block}
      hidden={state.hidden}
      button="Block address"
      isDanger
      cancelHref={paths.home}
    >
      <p>
        The address gets no messages of any page, no alerts, and no mail to confirm a sign-up, until
        an admin unblocks it. Invitations and password resets are still sent.
      </p>
      <FormInputs form={BLOCK_FORM} state={state} />
    </DialogForm>
  );
}

interface ReactivateProps extends ConfirmProps {
  reason: SuppressionReason;
  state: StateOf<typeof REACTIVATE_FORM>;
}

/** Asks before a suppression is ended. */
export function Reactivate({ title, row, reason, state }: ReactivateProps) {
  const paths = pathsOfSubscriber(row.id);
  return (
    <DialogForm
      title={title}
      action={paths.reactivate(reason)}
      hidden={state.hidden}
      button={reason === "blocked" ? "Unblock address" : "End suppression"}
      cancelHref={paths.home}
    >
      <p>
        {reason === "declined"
          ? "The person asked never to get mails about sign-ups. End this only if the person asks for it."
          : reason === "blocked"
            ? "The address can get mail again."
            : "The address gets messages again. If mail fails again, an admin can end the suppression after 7 days at the earliest: providers watch senders that keep on writing to dead addresses."}
      </p>
      <FormInputs form={REACTIVATE_FORM} state={state} />
    </DialogForm>
  );
}
