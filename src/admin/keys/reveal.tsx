import { describeExpiry, type RevealedKey } from "../../features/keys";
import { Actions, ButtonLink, Card, CodeBlock, Notice, PageHead, Secret, TestKey } from "../../ui";
import { KEYS_PATH, keyPath } from "../paths";

/** Screen that shows a key's value once, with instructions. */
export function RevealedValue(props: {
  title: string;
  revealed: RevealedKey;
  baseUrl: string;
  now: number;
}) {
  const { title, revealed, baseUrl, now } = props;
  const { key, value } = revealed;
  const curl = `curl -H "Authorization: Bearer ${value}" ${baseUrl}/api/v1/key`;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[
          { href: KEYS_PATH, label: "API Keys" },
          { href: keyPath(key.id), label: key.name },
        ]}
      />
      <Notice tone="degraded" title="This key is shown only once">
        Copy it before you leave this page. Allclear keeps only a hash; if you lose it, rotate the
        key.
      </Notice>
      <Card title={key.name}>
        <Secret text={value} copyLabel="Copy key" />
        <p class="muted">
          {key.scopes.join(", ")} · {key.rate_limit.toLocaleString("en")} requests a minute ·{" "}
          {key.expires_at === null ? (
            "never expires"
          ) : (
            <>
              works until{" "}
              <time dateTime={key.expires_at}>{describeExpiry(key.expires_at, now).text}</time>
            </>
          )}
        </p>
      </Card>
      <Card title="Try it">
        <CodeBlock text={curl} copyLabel="Copy command" isSecret />
        <TestKey />
      </Card>
      <Actions>
        <ButtonLink href={KEYS_PATH} kind="primary">
          Back to API Keys
        </ButtonLink>
      </Actions>
    </>
  );
}
