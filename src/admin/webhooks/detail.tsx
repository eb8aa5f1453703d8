import { webhookName } from "../../features/webhooks";
import { toIso } from "../../kernel/time";
import { ButtonLink, Card, RelativeTime, Notice, PageHead, PostButton, Section } from "../../ui";
import { ManagedByFile } from "../components/managed";
import { WEBHOOKS_PATH } from "../paths";
import { DeliveryList } from "./deliveries";
import { DisabledNotice } from "./disabled-notice";
import { WebhookFacts } from "./facts";
import { pathsOfWebhook } from "./webhook-paths";
import type { WebhookView } from "./webhook-view";

interface WebhookDetailProps {
  view: WebhookView;
  /**
   * Identifies this rendering of the test button, so that a repeated click sends one test event.
   */
  formToken: string;
  /** Unix ms. */
  now: number;
}

/** One endpoint: settings, health and deliveries. */
export function WebhookDetail({ view, formToken, now }: WebhookDetailProps) {
  const { row } = view.record;
  const paths = pathsOfWebhook(row.id);
  return (
    <>
      <PageHead
        title={webhookName(row)}
        crumbs={[{ href: WEBHOOKS_PATH, label: "Webhooks" }]}
        actions={
          <>
            {row.enabled ? (
              <PostButton action={paths.test} name="form" value={formToken}>
                Send a test
              </PostButton>
            ) : null}
            <ButtonLink href={paths.edit}>Edit</ButtonLink>
            <ButtonLink href={paths.ask("rotate")} dialog>
              Rotate secret
            </ButtonLink>
            {row.enabled ? (
              <ButtonLink href={paths.ask("disable")} dialog>
                Disable
              </ButtonLink>
            ) : null}
            <ButtonLink href={paths.ask("delete")} kind="danger" dialog>
              Delete
            </ButtonLink>
          </>
        }
      />
      {row.enabled ? (
        <FailingNotice since={row.failingSince} now={now} />
      ) : (
        <DisabledNotice row={row} now={now} />
      )}
      {row.managedBy === null ? null : <ManagedByFile what="webhook" />}
      <Card>
        <WebhookFacts view={view} now={now} />
      </Card>
      <Section
        title="Deliveries"
        actions={
          row.enabled ? (
            <ButtonLink href={paths.ask("redeliver")} dialog>
              Redeliver failed
            </ButtonLink>
          ) : undefined
        }
      >
        <DeliveryList view={view} now={now} />
      </Section>
    </>
  );
}

function FailingNotice({ since, now }: { since: number | null; now: number }) {
  if (since === null) return null;
  return (
    <Notice tone="warning" title="Every try fails">
      None has succeeded since the first failure <RelativeTime at={toIso(since)} now={now} />. What
      waits is tried again, for three days each; after five days of failure the webhook is disabled.
    </Notice>
  );
}
