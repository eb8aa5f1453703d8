import { webhookName, type WebhookRow } from "../../features/webhooks";
import type { PageRow } from "../../features/pages";
import { Actions, Button, ButtonLink, Form, PageHead, FormNotice } from "../../ui";
import { ManagedByFile } from "../components/managed";
import type { Complaints } from "../field-errors";
import { WEBHOOKS_PATH } from "../paths";
import { versionField } from "../stale";
import { WebhookFields } from "./fields";
import type { WebhookValues } from "./values";
import { pathsOfWebhook } from "./webhook-paths";

interface EditFormProps {
  row: WebhookRow;
  values: WebhookValues;
  complaints: Complaints;
  pages: readonly PageRow[];
  /** Message of a stale form; undefined for a current one. */
  stale: string | undefined;
}

/** Edit form of an endpoint. The signing secret is rotated on a separate screen. */
export function EditForm({ row, values, complaints, pages, stale }: EditFormProps) {
  const paths = pathsOfWebhook(row.id);
  return (
    <>
      <PageHead
        title="Edit webhook"
        crumbs={[
          { href: WEBHOOKS_PATH, label: "Webhooks" },
          { href: paths.home, label: webhookName(row) },
        ]}
      />
      {row.managedBy === null ? null : <ManagedByFile what="webhook" />}
      {stale === undefined ? null : <FormNotice>{stale}</FormNotice>}
      <Form action={paths.edit} hidden={versionField(row)} enter={{}}>
        <WebhookFields
          values={values}
          complaints={complaints}
          pages={pages}
          // Another format begins without settings.
          keptSecrets={values.format === row.format ? Object.keys(row.settings) : []}
        />
        <Actions>
          <Button kind="primary">Save changes</Button>
          <ButtonLink href={paths.home}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
