import { Actions, DialogForm } from "../../ui/form";
import { ButtonLink } from "../../ui/buttons";
import { Card, CodeBlock, Notice, Secret } from "../../ui/blocks";
import { PageHead } from "../../ui/navigation";
import { MAIL_PATH } from "../../ui/frame/paths";
import { MAIL_REVOKE_PATH, MAIL_TOKEN_PATH } from "./mail-paths";

/** Screen that shows the token for reports once, with a command that uses it. */
export function RevealedReportToken({ token, baseUrl }: { token: string; baseUrl: string }) {
  const url = `${baseUrl}/api/v1/mail/bounces/${token}`;
  const curl = `curl -fsS -H "Content-Type: message/rfc822" --data-binary @- ${url} < bounce.eml`;
  return (
    <>
      <PageHead title="Token for reports" crumbs={[{ href: MAIL_PATH, label: "Mail settings" }]} />
      <Notice tone="degraded" title="This address is shown only once">
        Copy the address before you leave this page, since Allclear stores only a hash of its token.
        If you lose it, replace the token.
      </Notice>
      <Card title="Address for reports">
        <Secret text={url} copyLabel="Copy address" />
        <p class="muted">
          Bounces and complaints are sent here as they come by mail, or by a provider as JSON. The
          token grants nothing else.
        </p>
      </Card>
      <Card title="Command">
        <CodeBlock text={curl} copyLabel="Copy command" isSecret />
        <p class="muted">
          On the machine of Allclear, a mail server can run <code>allclear mail bounce</code>{" "}
          instead, without a token.
        </p>
      </Card>
      <Actions>
        <ButtonLink href={MAIL_PATH}>I have stored it</ButtonLink>
      </Actions>
    </>
  );
}

/** Asks before the token is made or replaced. */
export function MakeToken(props: { hasToken: boolean; hidden: Readonly<Record<string, string>> }) {
  const { hasToken, hidden } = props;
  const title = hasToken ? "Replace token" : "Create token";
  return (
    <DialogForm
      title={title}
      action={MAIL_TOKEN_PATH}
      hidden={hidden}
      button={title}
      isDanger={hasToken}
      cancelHref={MAIL_PATH}
    >
      <p>
        {hasToken
          ? "Reports with the current token are refused at once. Give the new one to your mail server or provider."
          : "A mail server or a provider reports bounces and complaints with the token. It grants nothing else, and is shown once."}
      </p>
    </DialogForm>
  );
}

/** Asks before the token is revoked. */
export function RevokeToken() {
  return (
    <DialogForm
      title="Revoke token"
      action={MAIL_REVOKE_PATH}
      button="Revoke token"
      isDanger
      cancelHref={MAIL_PATH}
    >
      <p>
        Reports by HTTP are refused at once. <code>allclear mail bounce</code> still works.
      </p>
    </DialogForm>
  );
}
