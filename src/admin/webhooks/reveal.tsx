import { isForPeople } from "../../base/webhook";
import { maskAddress } from "../../base/mail-address";
import { describeQuestion, type Question } from "../../features/webhooks/alerts/question";
import { FORMATS } from "../../features/webhooks/formats";
import { recipientOf } from "../../features/webhooks/recipient";
import { webhookName } from "../../features/webhooks/changes";
import type { WebhookRow } from "../../features/webhooks/store";
import { toIso } from "../../base/time";
import { Actions } from "../../ui/form";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { Card, CodeBlock, Notice, Secret } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import { PageHead } from "../../ui/navigation";
import { WEBHOOKS_PATH } from "../../ui/frame/paths";
import { javaScriptSnippet, shellSnippet } from "./snippets";
import type { Screen } from "../../ui/frame/render";
import { pathsOfWebhook } from "./webhook-paths";

interface RevealedSecretProps {
  title: string;
  /** Endpoint with the new secret. */
  row: WebhookRow;
  /**
   * Identifies this rendering of the test button, so that a repeated click sends one test event.
   */
  formToken: string;
  now: number;
}

/** Screen that shows an endpoint's secret once, with instructions. */
export function RevealedSecret({ title, row, formToken, now }: RevealedSecretProps) {
  const { secret, previousSecretEndsAt } = row;
  const { label } = FORMATS[row.format];
  const name = webhookName(row);
  const paths = pathsOfWebhook(row.id);
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { href: WEBHOOKS_PATH, label: "Webhooks" },
          { href: paths.home, label: name },
        ]}
      />
      <Notice tone="degraded" title="This secret is shown only once">
        {isForPeople(row.format)
          ? `Every request is signed with this secret. ${label} does not check signatures, so you need it only for a program in between that does.`
          : "Every request is signed with this secret, so that your program can verify it. If you lose the secret, rotate it."}
      </Notice>
      <Card title={name}>
        <Secret text={secret} copyLabel="Copy secret" />
        {previousSecretEndsAt === null ? null : (
          <p class="muted">
            The previous secret also signs requests, and stops{" "}
            <RelativeTime at={toIso(previousSecretEndsAt)} now={now} />. Update the receiver before
            that.
          </p>
        )}
      </Card>
      <Card title="Verify in a shell">
        <p class="muted">
          Signatures follow Standard Webhooks. standardwebhooks.com lists libraries for most
          languages. Like these libraries, reject timestamps that are more than five minutes old.
        </p>
        <CodeBlock text={shellSnippet(secret, now)} copyLabel="Copy" isSecret />
      </Card>
      <Card title="Verify in JavaScript">
        <CodeBlock text={javaScriptSnippet(secret)} copyLabel="Copy" isSecret />
      </Card>
      <Actions>
        <PostButton action={paths.test} name="form" value={formToken}>
          Send test event
        </PostButton>
        <ButtonLink href={paths.home}>Open webhook</ButtonLink>
      </Actions>
    </>
  );
}

interface MadeWithoutSecret {
  row: WebhookRow;
  /** Question to the address; undefined if it needs no answer. */
  question: Question | undefined;
  formToken: string;
  now: number;
}

/** Screen after the creation of an endpoint for e-mail, which has no secret. */
export function madeWithoutSecret({ row, question, formToken, now }: MadeWithoutSecret): Screen {
  const address = maskAddress(recipientOf(row.url));
  const paths = pathsOfWebhook(row.id);
  const title = "Webhook created";
  return {
    title,
    children: (
      <>
        <PageHead title={title} crumbs={[{ href: WEBHOOKS_PATH, label: "Webhooks" }]} />
        <Card title={webhookName(row)}>
          <p>
            {question
              ? `Events are sent once the owner of ${address} has opened a link and confirmed. ${describeQuestion(question, now)}`
              : `Events are mailed to ${address} from now on.`}
          </p>
        </Card>
        <Actions>
          <ButtonLink href={paths.home} kind="primary">
            Open webhook
          </ButtonLink>
          {question ? null : (
            <PostButton action={paths.test} name="form" value={formToken}>
              Send test event
            </PostButton>
          )}
        </Actions>
      </>
    ),
  };
}
