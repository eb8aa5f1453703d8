import type { RevealedKey } from "../../features/keys";
import { Actions, ButtonLink, Card, CodeBlock, Notice, PageHead, Secret, TestKey } from "../../ui";
import { Expiry } from "./list";
import { KEYS_PATH, keyPath } from "./paths";

/** The one showing of a key's value, with what to do with it now. */
export function RevealedValue(props: {
  revealed: RevealedKey;
  baseUrl: string;
  isRotation: boolean;
  now: number;
}) {
  const { revealed, baseUrl, isRotation, now } = props;
  const { key, value } = revealed;
  const curl = `curl -H "Authorization: Bearer ${value}" ${baseUrl}/api/v1/key`;
  return (
    <>
      <PageHead
        title={isRotation ? "Copy the new value now" : "Copy the key now"}
        crumbs={[
          { href: KEYS_PATH, label: "API Keys" },
          { href: keyPath(key.id), label: key.name },
        ]}
      />
      <Notice tone="warning" title="It is shown this once">
        Only its hash is kept. When you leave this page the value is gone; if you lose it, rotate
        the key.
      </Notice>
      <Card title={key.name}>
        <Secret text={value} copyLabel="Copy key" />
        <p class="muted">
          {key.scopes.join(", ")} · {key.rate_limit.toLocaleString("en")} requests a minute ·
          {key.expires_at === null ? (
            "never expires"
          ) : (
            <>
              works until <Expiry at={key.expires_at} now={now} />
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
          I have copied it
        </ButtonLink>
      </Actions>
    </>
  );
}

/** The same form once more, after its minute: the value is forgotten. */
export function ShownBefore({ keyId, isRotation }: { keyId: string; isRotation: boolean }) {
  return (
    <>
      <PageHead title="The value was shown" crumbs={[{ href: KEYS_PATH, label: "API Keys" }]} />
      <p>
        This form was sent before. It {isRotation ? "rotated the key" : "created one key"} then, and
        showed the value once; it is not kept, so it cannot be shown again. Nothing was changed now.
      </p>
      <p>If the value was not copied, rotate the key: it gets a new one.</p>
      <Actions>
        <ButtonLink href={keyPath(keyId)} kind="primary">
          Open the key
        </ButtonLink>
        <ButtonLink href={KEYS_PATH}>API Keys</ButtonLink>
      </Actions>
    </>
  );
}
