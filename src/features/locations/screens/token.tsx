/* Tokens of a location: the screen that shows one once, their list, and the forms that rotate and end them. */
import type { ComponentChildren } from "preact";
import { isPrivateUrl } from "../../../base/private-url";
import { toIso } from "../../../base/time";
import type { Ctx } from "../../../context";
import { CodeBlock, Notice, Secret } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { DialogForm } from "../../../ui/form";
import { FormInputs } from "../../../ui/forms/fields";
import { defineForm, type StateOf } from "../../../ui/forms/form";
import type { Reveal } from "../../../ui/frame/changes";
import { GENERAL_PATH, locationPath, LOCATIONS_PATH } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import type { Screen } from "../../../ui/frame/render";
import { type DataColumn, DataTable } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { shownBefore } from "../../../ui/screens/form-screen";
import { RelativeTime } from "../../../ui/times";
import { VERSION } from "../../../version";
import type { Overlap } from "../../keys/rules";
import { overlapField } from "../../keys/screens/forms";
import {
  endLocationToken,
  getLocation,
  type LocationToken,
  type RevealedLocation,
  rotateLocationToken,
  tokensOfLocation,
} from "../locations";

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

const ROTATE_FORM = defineForm<{ overlap: Overlap }>()({ overlap: overlapField("token") });

/** Adds the forms that rotate and end the tokens of a location. */
export function addTokenRoutes(area: Area, ctx: Ctx): void {
  area.secretForm("/:id/rotate", {
    form: ROTATE_FORM,
    load: (reader, { params }) => ({
      row: getLocation(reader, params.id),
      hasToken: tokensOfLocation(reader, params.id, ctx.clock.now()).length > 0,
    }),
    show(state) {
      const { row, hasToken } = state.context;
      const title = hasToken
        ? `Rotate the token of “${row.name}”`
        : `Issue a token for “${row.name}”`;
      return { title, children: <RotateToken title={title} state={state} /> };
    },
    create: (tx, { overlap }, actor, { params: { id } }) => ({
      made: rotateLocationToken(ctx, tx, id, overlap, actor),
      subjectId: id,
    }),
    reveal: (reveal) => revealToken(ctx, reveal, "Your new token"),
  });

  area.confirmation("/:id/tokens/:key/end", {
    show({ params }) {
      const { name } = getLocation(ctx.db, params.id);
      const tokens = tokensOfLocation(ctx.db, params.id, ctx.clock.now());
      // The token was ended meanwhile.
      if (!tokens.some(({ key }) => key === params.key)) return { path: locationPath(params.id) };
      return {
        title: `End a token of “${name}”`,
        button: "End token",
        isDanger: true,
        dialog: (
          <p>
            An agent that uses this token is refused from now on.
            {tokens.length === 1
              ? " The location has no other token, so that it is silent until you issue one."
              : ""}
          </p>
        ),
        cancelHref: locationPath(params.id),
      };
    },
    run: (tx, { params: { id, key } }, actor) => endLocationToken(ctx, tx, id, key, actor),
    done: (_, { params }) => ({ path: locationPath(params.id), text: "The token was ended." }),
  });
}

function RotateToken({
  title,
  state,
}: {
  title: string;
  state: StateOf<typeof ROTATE_FORM> & { context: { row: { id: string }; hasToken: boolean } };
}) {
  const { row, hasToken } = state.context;
  return (
    <DialogForm
      title={title}
      action={locationPath(row.id, "rotate")}
      hidden={state.hidden}
      button={hasToken ? "Rotate token" : "Issue token"}
      cancelHref={locationPath(row.id)}
    >
      <p>
        {hasToken
          ? "The location gets another token, which is shown once. The agent reads its token file again when the old token is refused. Restart an agent that runs by the systemd unit or by Compose: they give it a copy of the file."
          : "The token is shown once. The agent of this location signs in with it."}
      </p>
      {hasToken ? (
        <FormInputs form={ROTATE_FORM} state={state} />
      ) : (
        <input type="hidden" name="overlap" value="now" />
      )}
    </DialogForm>
  );
}

/** Tokens of a location by their short keys; the server has only hashes. */
export function Tokens(shown: { id: string; tokens: readonly LocationToken[]; now: number }) {
  const { id, tokens, now } = shown;
  return (
    <DetailCard title="Tokens" liveId="location-tokens" isTable>
      {tokens.length === 0 ? (
        <p class="muted detail-body">
          No token, so that no agent can check monitors from here. Issue one.
        </p>
      ) : (
        <DataTable
          caption="Tokens of this location"
          isInCard
          columns={tokenColumns(id, now)}
          entries={tokens}
        />
      )}
    </DetailCard>
  );
}

function tokenColumns(id: string, now: number): DataColumn<LocationToken>[] {
  return [
    { label: "Token", cell: ({ key }) => <code>{key}</code> },
    {
      label: "Created",
      cell: ({ createdAt }) => <RelativeTime at={toIso(createdAt)} now={now} />,
    },
    {
      label: "Ends",
      cell: ({ endsAt }) =>
        endsAt === null ? (
          <span class="quiet-text">Never</span>
        ) : (
          <RelativeTime at={toIso(endsAt)} now={now} />
        ),
    },
    {
      label: "Action",
      cell: ({ key }) => (
        <ButtonLink href={locationPath(id, "tokens", key, "end")} kind="danger" dialog>
          End token
        </ButtonLink>
      ),
    },
  ];
}
