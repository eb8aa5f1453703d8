import { describeExpiry } from "../../features/keys/rules";
import type { RevealedKey } from "../../features/keys/service";
import { type Scope, SCOPE_NAMES, SCOPES } from "../../features/keys/scopes";
import { plural } from "../../base/text";
import { ButtonLink } from "../../ui/buttons";
import { CodeBlock, Notice, Secret, TestKey } from "../../ui/blocks";
import { HeadFact, HeadFacts } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { PageHead } from "../../ui/navigation";
import { keyPath, KEYS_PATH } from "../../ui/frame/paths";

interface RevealedValueProps {
  title: string;
  revealed: RevealedKey;
  /** Endpoints that each scope opens. */
  endpoints: ReadonlyMap<Scope, readonly string[]>;
  baseUrl: string;
  now: number;
}

/** Screen that shows a key's value once, with a command that uses it. */
export function RevealedValue(props: RevealedValueProps) {
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
      >
        <HeadFacts>
          <HeadFact icon="key-round">{key.name}</HeadFact>
          <HeadFact icon="clock">
            {key.expires_at === null ? (
              "never expires"
            ) : (
              <>
                works until{" "}
                <time dateTime={key.expires_at}>{describeExpiry(key.expires_at, now).text}</time>
              </>
            )}
          </HeadFact>
        </HeadFacts>
      </PageHead>
      <section class="card reveal" aria-labelledby="revealed">
        <Notice tone="degraded">
          <strong>Copy the key now.</strong> The key is shown only this once, since Allclear stores
          only a hash of it. If you lose the key, rotate it.
        </Notice>
        <div class="field">
          <h2 class="label" id="revealed">
            Key
          </h2>
          <Secret text={value} copyLabel="Copy key" />
        </div>
        <div class="field">
          <h2 class="label">Try it</h2>
          <CodeBlock text={curl} copyLabel="Copy command" isSecret />
        </div>
        <div class="actions">
          <TestKey />
          <ButtonLink href={KEYS_PATH}>I have stored it</ButtonLink>
        </div>
      </section>
      <Abilities {...props} />
    </>
  );
}

/** Scopes of a key in words, and its limit. */
function Abilities({ revealed: { key }, endpoints }: RevealedValueProps) {
  return (
    <section class="card abilities" aria-labelledby="abilities">
      <div class="abilities-head">
        <h2 id="abilities">This key can</h2>
        <a href={keyPath(key.id)}>Open key</a>
      </div>
      <ul>
        {SCOPE_NAMES.filter((scope) => key.scopes.includes(scope)).map((scope) => (
          <li key={scope}>
            <Icon name="check" />
            <div>
              <p class="strong">{SCOPES[scope]}</p>
              <p class="muted">
                <code>{scope}</code> · {plural(endpoints.get(scope)?.length ?? 0, "endpoint")}
              </p>
            </div>
          </li>
        ))}
      </ul>
      <p class="abilities-foot">
        {key.rate_limit.toLocaleString("en")} requests a minute · from any address
      </p>
    </section>
  );
}
