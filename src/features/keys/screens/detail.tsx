import { plural } from "../../../base/text";
import { validate } from "../../../base/validation";
import type { Ctx } from "../../../context";
import { sessionOf } from "../../../http/request-context";
import {
  Card,
  Chip,
  Chips,
  CodeBlock,
  Facts,
  FormNotice,
  Notice,
  Secret,
  State,
  TestKey,
} from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Sparkline } from "../../../ui/charts";
import { DetailCard, HeadFact, HeadFacts, MoreMenu } from "../../../ui/detail";
import { Actions, DialogForm, Form } from "../../../ui/form";
import { FormFields, FormInputs } from "../../../ui/forms/fields";
import type { StateOf } from "../../../ui/forms/form";
import type { Reveal } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { keyPath, KEYS_PATH, withQuery } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import { CellNote, type DataColumn, DataTable, OneLine } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { shownBefore } from "../../../ui/screens/form-screen";
import { ShowInstead } from "../../../ui/screens/routes";
import { RelativeTime, shortDay, Time, useZone } from "../../../ui/times";
import { linksOf } from "../../activity/screens/target-links";
import { endOldValues, type RevealedKey, revokeKey, rotateKey, updateKey } from "../keys";
import {
  getKey,
  getKeyListing,
  type KeyListing,
  type KeyUsageSummary,
  usageOfKey,
} from "../records";
import { describeExpiry, isExpiringSoon } from "../rules";
import { type Scope, SCOPE_NAMES, SCOPES } from "../scopes";
import { UpdateKeyBody } from "../wire";
import { endpointsByScope, KEY_EDIT_FORM, ROTATE_FORM } from "./forms";

/** Adds the screen of a key, and the forms that change, rotate and revoke it. */
export function addKeyRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx, usage } = deps;

  /** Returns a key, including uses that are not yet stored. Throws `not_found`. */
  function listingOf(id: string): KeyListing {
    return getKeyListing(ctx.db, id, ctx.clock.now(), usage.pendingLastUse);
  }

  /** Returns a key that still works. Shows the key instead if it has ended. */
  function requireLive(id: string): KeyListing {
    const listing = listingOf(id);
    if (listing.state !== "live") throw new ShowInstead({ path: keyPath(id) });
    return listing;
  }

  area.editForm("/:id", {
    form: KEY_EDIT_FORM,
    load(reader, { params }) {
      const resource = getKey(reader, params.id);
      return { resource, version: resource.version, context: undefined };
    },
    show(edit, at) {
      const listing = listingOf(at.params.id);
      const now = ctx.clock.now();
      const links = creatorLinks(ctx, at, [listing]);
      const page = { listing, edit, usage: usageOfKey(ctx.db, listing.id, now), links, now };
      return { title: listing.name, children: <KeyDetail {...page} /> };
    },
    update(tx, changes, actor, { params }) {
      updateKey(ctx, tx, params.id, validate(UpdateKeyBody, changes), actor);
    },
    done: ({ params }) => ({ path: keyPath(params.id), text: "The key was changed." }),
  });

  area.secretForm("/:id/rotate", {
    form: ROTATE_FORM,
    load(_, { params, sent }) {
      // A submitted form is rejected by the service, with the reason.
      if (sent === undefined) requireLive(params.id);
    },
    show(state, { params }) {
      const listing = listingOf(params.id);
      const title = `Rotate “${listing.name}”`;
      const page = { title, listing, state, now: ctx.clock.now() };
      return { title, children: <RotateKey {...page} /> };
    },
    create(tx, { overlap }, actor, { params }) {
      const made = rotateKey(ctx, tx, params.id, overlap, actor);
      return { made, subjectId: made.key.id };
    },
    reveal: (reveal) => revealValue(deps, reveal, "Your new value"),
  });

  area.action("/:id/end-old-value", {
    run: (tx, { params }, actor) => endOldValues(ctx, tx, params.id, actor),
    done: (_, { params }) => ({ path: keyPath(params.id), text: "The old value no longer works." }),
  });

  area.confirmation("/:id/revoke", {
    show({ params }) {
      const listing = requireLive(params.id);
      const now = ctx.clock.now();
      return {
        title: `Revoke “${listing.name}”`,
        button: "Revoke key",
        isDanger: true,
        dialog: (
          <>
            <p>
              Every value of this key stops working at once. This cannot be undone. The key stays in
              the list.
            </p>
            <p>
              Last 24 hours: <UsageSentence usage={usageOfKey(ctx.db, params.id, now)} />{" "}
              <LastUse listing={listing} now={now} />
            </p>
          </>
        ),
      };
    },
    run: (tx, { params }, actor) => revokeKey(ctx, tx, params.id, actor),
    done: async ({ name }) => ({
      path: KEYS_PATH,
      text: `“${name}” was revoked. ${describeReach(await ctx.findNodesBehind?.())}`,
    }),
  });
}

/** Says which nodes reject revoked keys; on one machine there is no list of nodes. */
export function describeReach(behind: readonly string[] | undefined, count = 1): string {
  const isOne = count === 1;
  if (behind === undefined) {
    return `Requests with ${isOne ? "this key" : "these keys"} are now rejected.`;
  }
  if (behind.length === 0) return `${isOne ? "It is" : "They are"} revoked on all nodes.`;
  return `Not confirmed yet: ${behind.join(", ")}. A node that cannot know refuses all keys.`;
}

interface KeyDetailProps {
  listing: KeyListing;
  usage: KeyUsageSummary;
  edit: StateOf<typeof KEY_EDIT_FORM>;
  links: CreatorLinks;
  now: number;
}

/** Returns the path of the form for a new key that is filled in from another. */
function anotherPath(id: string): string {
  return withQuery(`${KEYS_PATH}/new`, { from: id });
}

/** One API key: scopes, usage, values and settings. */
function KeyDetail({ listing, usage, edit, links, now }: KeyDetailProps) {
  const isLive = listing.state === "live";
  return (
    <>
      <PageHead
        title={listing.name}
        crumbs={crumbsTo(KEYS_PATH)}
        actions={isLive ? <KeyActions id={listing.id} /> : undefined}
      />
      <EndNotice listing={listing} now={now} />
      <Card>
        <Facts
          items={[
            { label: "Scopes", value: <ScopeChips scopes={listing.scopes} />, isWide: true },
            {
              label: isLive ? "Expires" : "Ended",
              value: (
                <>
                  <KeyEnd of={listing} now={now} />
                  {isLive && listing.expires_at && isExpiringSoon(listing.expires_at, now) ? (
                    <CellNote>
                      <State tone="degraded">Expires soon</State>
                    </CellNote>
                  ) : null}
                </>
              ),
            },
            {
              label: "Created",
              value: (
                <>
                  <RelativeTime at={listing.created_at} now={now} /> by{" "}
                  <Creator of={listing} links={links} />
                </>
              ),
            },
            {
              label: "Last 24 hours",
              isWide: true,
              value: (
                <>
                  <UsageSentence usage={usage} />{" "}
                  <Sparkline
                    values={listing.requests_24h}
                    label="Requests in each of the last 24 hours"
                  />
                </>
              ),
            },
            { label: "Id", value: <code>{listing.id}</code>, isWide: true },
          ]}
        />
      </Card>
      <DetailCard title="Values" liveId="key-values" isTable>
        <DataTable
          caption="Values of this key"
          isInCard
          columns={valueColumns(listing, now)}
          entries={listing.values}
        />
      </DetailCard>
      {listing.old_value && isLive ? <EndOldValue listing={listing} now={now} /> : null}
      {isLive ? (
        <EditForm id={listing.id} state={edit} />
      ) : edit.notice === undefined ? null : (
        <FormNotice>{edit.notice}</FormNotice>
      )}
    </>
  );
}

function EditForm({ id, state }: { id: string; state: StateOf<typeof KEY_EDIT_FORM> }) {
  return (
    <DetailCard title="Name and limit" liveId="key-settings" isStill>
      <Form action={keyPath(id)} hidden={state.hidden}>
        <FormFields form={KEY_EDIT_FORM} state={state} />
        <Actions>
          <Button>Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

function KeyActions({ id }: { id: string }) {
  return (
    <>
      <ButtonLink href={keyPath(id, "rotate")} dialog>
        <Icon name="refresh-cw" />
        Rotate
      </ButtonLink>
      <MoreMenu label="More actions">
        <ButtonLink href={anotherPath(id)}>
          <Icon name="copy" />
          Create another like this
        </ButtonLink>
        <ButtonLink href={keyPath(id, "revoke")} kind="danger" dialog>
          Revoke
        </ButtonLink>
      </MoreMenu>
    </>
  );
}

function EndNotice({ listing, now }: { listing: KeyListing; now: number }) {
  if (listing.revoked_at) {
    return (
      <Notice tone="none" title="This key is revoked">
        Revoked <RelativeTime at={listing.revoked_at} now={now} />, which cannot be undone. If a
        program still needs access, <a href={anotherPath(listing.id)}>create another like this</a>.
      </Notice>
    );
  }
  if (listing.state === "expired") {
    return (
      <Notice tone="degraded" title="This key has expired">
        The key no longer works, and the expiration cannot be changed. If a program still needs
        access, <a href={anotherPath(listing.id)}>create another like this</a>.
      </Notice>
    );
  }
  return null;
}

type KeyValue = KeyListing["values"][number];

function valueColumns({ state }: KeyListing, now: number): DataColumn<KeyValue>[] {
  return [
    { label: "Value", cell: ({ start }) => <code>{start}…</code> },
    { label: "Created", cell: ({ created_at }) => <RelativeTime at={created_at} now={now} /> },
    { label: "Last used", cell: (value) => <LastUsed of={value} now={now} /> },
    {
      label: "Ends",
      cell({ ends_at }) {
        if (state !== "live" || (ends_at !== null && Date.parse(ends_at) <= now)) {
          return <span class="quiet-text">Ended</span>;
        }
        return ends_at === null ? "With the key" : <RelativeTime at={ends_at} now={now} />;
      },
    },
  ];
}

function EndOldValue({ listing, now }: { listing: KeyListing; now: number }) {
  const old = listing.old_value;
  if (!old) return null;
  return (
    <Card title="Old value">
      <Form action={keyPath(listing.id, "end-old-value")}>
        <p>
          <code>{old.start}…</code> ends <RelativeTime at={old.ends_at} now={now} />.{" "}
          {old.last_used_at ? (
            <>
              Last used <RelativeTime at={old.last_used_at} now={now} />, so a program may still
              need this value.
            </>
          ) : (
            "This value was never used, so you can end it safely."
          )}
        </p>
        <Actions>
          <Button>End old value now</Button>
        </Actions>
      </Form>
    </Card>
  );
}

/** Asks before a key is rotated, and for the overlap in which the old value works. */
function RotateKey(props: {
  title: string;
  listing: KeyListing;
  state: StateOf<typeof ROTATE_FORM>;
  now: number;
}) {
  const { title, listing, state, now } = props;
  return (
    <DialogForm
      title={title}
      action={keyPath(listing.id, "rotate")}
      hidden={state.hidden}
      button="Rotate key"
      cancelHref={keyPath(listing.id)}
    >
      <p>
        The key gets a new value and keeps its scopes, limit and expiration. The current value{" "}
        <code>{listing.start}…</code>
        {listing.last_used_at ? (
          <>
            , last used <RelativeTime at={listing.last_used_at} now={now} />,
          </>
        ) : (
          ", never used,"
        )}{" "}
        keeps working until the time that you select below.
      </p>
      <FormInputs form={ROTATE_FORM} state={state} />
    </DialogForm>
  );
}

/** Last use of any value of the key, since revoking ends all of them. */
export function LastUse({ listing, now }: { listing: KeyListing; now: number }) {
  const used = listing.values
    .filter((value) => value.last_used_at !== null)
    .sort((a, b) => ((a.last_used_at ?? "") < (b.last_used_at ?? "") ? 1 : -1));
  const [last] = used;
  if (!last?.last_used_at) return <>The key was never used.</>;
  return (
    <>
      Last used <RelativeTime at={last.last_used_at} now={now} />
      {last.last_used_ip === null ? "" : ` from ${last.last_used_ip}`}.
    </>
  );
}

/** Screen to which a shown value leads, with its name if that is not the list of keys. */
interface NextScreen {
  href: string;
  label?: string;
}

/** Returns the screen that shows the value of a new or rotated key once. */
export function revealValue(
  { ctx, routes }: AdminDependencies,
  reveal: Reveal<RevealedKey>,
  title: string,
  next: NextScreen = { href: KEYS_PATH },
): Screen {
  if ("shownBefore" in reveal) {
    return shownBefore({
      secret: "value",
      ifLost: "rotate the key to get a new one",
      object: { href: keyPath(reveal.shownBefore), label: "Open key" },
      list: KEYS_PATH,
    });
  }
  const endpoints = endpointsByScope(routes);
  const page = { title, revealed: reveal.revealed, next, endpoints, baseUrl: ctx.baseUrl };
  return { title, isSecret: true, children: <RevealedValue {...page} /> };
}

interface RevealedValueProps {
  title: string;
  revealed: RevealedKey;
  next: NextScreen;
  /** Endpoints that each scope opens. */
  endpoints: ReadonlyMap<Scope, readonly string[]>;
  baseUrl: string;
}

/** Value of a key, with a command that uses it. */
function RevealedValue(props: RevealedValueProps) {
  const { title, revealed, next, baseUrl } = props;
  const { key, value } = revealed;
  const curl = `curl -H "Authorization: Bearer ${value}" ${baseUrl}/api/v1/key`;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[...crumbsTo(KEYS_PATH), { href: keyPath(key.id), label: key.name }]}
      >
        <HeadFacts>
          <HeadFact icon="key-round">{key.name}</HeadFact>
          <HeadFact icon="clock">
            {key.expires_at === null ? (
              "never expires"
            ) : (
              <>
                works until <KeyExpiry at={key.expires_at} />
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
          <ButtonLink href={next.href}>I have stored it</ButtonLink>
          {next.label === undefined ? null : <span class="quiet-text">{next.label}</span>}
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
      <p class="abilities-foot">{key.rate_limit.toLocaleString("en")} requests a minute</p>
    </section>
  );
}

/** Scopes of a key. */
export function ScopeChips({ scopes }: { scopes: readonly string[] }) {
  return (
    <Chips>
      {scopes.map((scope) => (
        <Chip key={scope} isCode>
          {scope}
        </Chip>
      ))}
    </Chips>
  );
}

/** Paths of the screens of users and keys that the reader may open, by id. */
export type CreatorLinks = ReadonlyMap<string, string>;

/** Name of the user, key or program that created a key, linked if there is a screen. */
export function Creator({ of: key, links }: { of: KeyListing; links: CreatorLinks }) {
  const { id, label } = key.created_by;
  const href = id === null ? undefined : links.get(id);
  return href === undefined ? <>{label}</> : <a href={href}>{label}</a>;
}

/** Last day on which a key works, such as "8 Dec 2026", or the time at which it ends. `at` is its `expires_at`. */
export function KeyExpiry({ at }: { at: string }) {
  const text = describeExpiry(at, useZone());
  const time = text.slice(10);
  return (
    <Time at={at}>
      {shortDay(text)}
      {time === "" ? "" : `,${time}`}
    </Time>
  );
}

/** Expiry or revocation of a key, as text. */
export function KeyEnd({ of: key, now }: { of: KeyListing; now: number }) {
  const { revoked_at, expires_at } = key;
  if (revoked_at !== null) {
    return (
      <span class="quiet-text">
        <OneLine>
          Revoked <RelativeTime at={revoked_at} now={now} />
        </OneLine>
      </span>
    );
  }
  if (expires_at === null) return <span class="quiet-text">Never</span>;
  if (Date.parse(expires_at) <= now) {
    return (
      <span class="quiet-text">
        <OneLine>
          Expired <KeyExpiry at={expires_at} />
        </OneLine>
      </span>
    );
  }
  return (
    <OneLine>
      <KeyExpiry at={expires_at} />
    </OneLine>
  );
}

/** Counts of the last day's responses: "3 requests (2 succeeded, 1 rate-limited)." */
function UsageSentence({ usage }: { usage: KeyUsageSummary }) {
  const { ok, client_error, limited, total } = usage.last24h;
  if (total === 0) return <>No requests.</>;
  if (ok === total) return <>{plural(total, "request")}, no failures.</>;
  const parts = [
    `${ok.toLocaleString("en")} succeeded`,
    ...(client_error > 0 ? [`${client_error.toLocaleString("en")} failed (4xx)`] : []),
    ...(limited > 0 ? [`${limited.toLocaleString("en")} rate-limited`] : []),
  ];
  return (
    <>
      {plural(total, "request")} ({parts.join(", ")}).
    </>
  );
}

/** Cell with the last use of a key or of one of its values: time and address. */
export function LastUsed(props: {
  of: { last_used_at: string | null; last_used_ip: string | null };
  now: number;
}) {
  const { last_used_at, last_used_ip } = props.of;
  if (last_used_at === null) return <span class="quiet-text">Never used</span>;
  return (
    <>
      <RelativeTime at={last_used_at} now={props.now} />
      <CellNote>
        <OneLine>{last_used_ip}</OneLine>
      </CellNote>
    </>
  );
}

/** Returns the paths of the creators of keys whose screens the reader may open. */
export function creatorLinks(
  ctx: Ctx,
  { requestContext }: ScreenRequest,
  keys: readonly KeyListing[],
): CreatorLinks {
  const ids = keys.flatMap(({ created_by: { id } }) => (id === null ? [] : [id]));
  return linksOf(ctx.db, ids, sessionOf(requestContext).user.role);
}
