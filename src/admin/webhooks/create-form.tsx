import type { PageRow } from "../../features/pages";
import { Actions, Button, ButtonLink, Form, PageHead } from "../../ui";
import type { Complaints } from "../field-errors";
import { WEBHOOKS_PATH } from "../paths";
import { WebhookFields } from "./fields";
import type { WebhookValues } from "./values";
import { NEW_WEBHOOK_PATH } from "./webhook-paths";

interface CreateFormProps {
  values: WebhookValues;
  complaints: Complaints;
  pages: readonly PageRow[];
  /** Identifies this rendering of the form, so that submitting it twice creates one webhook. */
  formToken: string;
}

/** Settings → Webhooks → Create webhook. */
export function CreateForm({ formToken, ...fields }: CreateFormProps) {
  return (
    <>
      <PageHead title="Create webhook" crumbs={[{ href: WEBHOOKS_PATH, label: "Webhooks" }]} />
      <Form action={NEW_WEBHOOK_PATH} hidden={{ form: formToken }} enter={{}}>
        <WebhookFields {...fields} />
        <Actions>
          <Button kind="primary">Create webhook</Button>
          <ButtonLink href={WEBHOOKS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
