import type { ComponentChildren } from "preact";
import { isPrivateUrl } from "../../../base/private-url";
import type { Ctx } from "../../../context";
import { CodeBlock, Notice, Secret } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import type { Reveal } from "../../../ui/frame/changes";
import { GENERAL_PATH, locationPath, LOCATIONS_PATH } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import type { Screen } from "../../../ui/frame/render";
import { PageHead } from "../../../ui/navigation";
import { shownBefore } from "../../../ui/screens/form-screen";
import { VERSION } from "../../../version";
import type { RevealedLocation } from "../locations";

/** Returns the screen that shows the token of a location once, with the steps to its agent. */
export function revealToken(
  { baseUrl }: Ctx,
  reveal: Reveal<RevealedLocation>,
  title: string,
): Screen {
  if ("shownBefore" in reveal) {
    return shownBefore({
      secret: "token",
      ifLost: "rotate the token to get a new one",
      object: { href: locationPath(reveal.shownBefore), label: "Open location" },
      list: LOCATIONS_PATH,
    });
  }
  const { row, token } = reveal.revealed;
  return {
    title,
    isSecret: true,
    children: (
      <>
        <PageHead
          title={title}
          crumbs={[...crumbsTo(LOCATIONS_PATH), { href: locationPath(row.id), label: row.name }]}
        />
        <section class="card reveal" aria-labelledby="revealed">
          <Notice tone="degraded">
            <strong>Copy the token now.</strong> The token is shown only this once, since Allclear
            stores only a hash of it. If you lose it, rotate the token.
          </Notice>
          <div class="field">
            <h2 class="label" id="revealed">
              Token of {row.name}
            </h2>
            <Secret text={token} copyLabel="Copy token" />
          </div>
          {row.contactAt === null ? (
            <StartSteps baseUrl={baseUrl} token={token} />
          ) : (
            <StoreToken title="Store the token on the machine of the agent" token={token}>
              Then restart an agent that runs by the systemd unit or by Compose.
            </StoreToken>
          )}
          <div class="actions">
            <ButtonLink href={locationPath(row.id)}>I have stored it</ButtonLink>
          </div>
        </section>
      </>
    ),
  };
}

/** File of the token in the commands. */
const TOKEN_FILE = "/etc/allclear-agent.token";

/** Command that stores a token, with the token if it is shown. */
function StoreToken({
  title,
  token,
  children,
}: {
  title: string;
  token: string | undefined;
  children?: ComponentChildren;
}) {
  const store = `printf %s ${token ?? "TOKEN"} | sudo install -m 600 /dev/stdin ${TOKEN_FILE}`;
  return (
    <div class="field">
      <h3 class="label">{title}</h3>
      <CodeBlock text={store} copyLabel="Copy command" isSecret={token !== undefined} />
      {children === undefined ? null : <p class="hint">{children}</p>}
    </div>
  );
}

/** Steps to an agent on another machine, with the token if it is shown. */
export function StartSteps({ baseUrl, token }: { baseUrl: string; token: string | undefined }) {
  const isOpen = !isPrivateUrl(new URL(baseUrl));
  return (
    <>
      <div class="field">
        <h3 class="label">1. Install Allclear on the other machine</h3>
        <p class="hint">
          The agent is the same executable as this server's, version {VERSION}: copy it from here to{" "}
          <code>/usr/local/bin/allclear</code>, or use the same image. It listens on nothing.
        </p>
      </div>
      <StoreToken title="2. Store the token there" token={token} />
      <div class="field">
        <h3 class="label">3. Start the agent</h3>
        <CodeBlock
          text={`sudo /usr/local/bin/allclear probe --server ${baseUrl} --token-file ${TOKEN_FILE}`}
          copyLabel="Copy command"
        />
        {isOpen ? (
          <p class="hint">
            The public address of this server begins with http://, which an agent on another machine
            refuses: the secrets of monitors would be readable on their way. Set an https:// address
            under <a href={GENERAL_PATH}>General</a>, or add <code>--allow-http</code>.
          </p>
        ) : null}
      </div>
      <div class="field">
        <h3 class="label">4. Select the location in monitors</h3>
        <p class="hint">Edit a monitor, and select the location under “Locations”.</p>
      </div>
    </>
  );
}
