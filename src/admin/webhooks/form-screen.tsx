import { webhookName, type WebhookRow } from "../../features/webhooks";
import { Actions, Button, ButtonLink, Form, PageHead } from "../../ui";
import { ManagedByFile } from "../components/managed";
import type { StateOf } from "../forms/form";
import { FormFields } from "../forms/form-fields";
import { WEBHOOKS_PATH } from "../paths";
import { WEBHOOK_FORM } from "./forms";
import { NEW_WEBHOOK_PATH, pathsOfWebhook } from "./webhook-paths";

interface FormScreenProps {
  /** Stored endpoint; undefined for a new one. */
  row?: WebhookRow;
  state: StateOf<typeof WEBHOOK_FORM>;
}

/** Form for a new endpoint, or for a stored one. The signing secret has a screen of its own. */
export function WebhookFormScreen({ row, state }: FormScreenProps) {
  const list = { href: WEBHOOKS_PATH, label: "Webhooks" };
  const { home, edit } = pathsOfWebhook(row?.id ?? "");
  return (
    <>
      <PageHead
        title={row ? "Edit webhook" : "Create webhook"}
        crumbs={row ? [list, { href: home, label: webhookName(row) }] : [list]}
      />
      {row && row.managedBy !== null ? <ManagedByFile what="webhook" /> : null}
      <Form action={row ? edit : NEW_WEBHOOK_PATH} hidden={state.hidden} enter={{}}>
        <FormFields form={WEBHOOK_FORM} state={state} />
        <Actions>
          <Button kind="primary">{row ? "Save changes" : "Create webhook"}</Button>
          <ButtonLink href={row ? home : WEBHOOKS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
