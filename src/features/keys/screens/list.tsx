/*
 * Screens of API keys: routes of the list and of the form for a new key, the list, its address, and at the end the
 * screen that revokes the keys selected in it.
 */
import type { ComponentChildren } from "preact";
import type { Actor } from "../../../base/actor";
import { runInSlices } from "../../../base/in-slices";
import { sum } from "../../../base/numbers";
import type { Tone } from "../../../base/status";
import { plural } from "../../../base/text";
import type { Ctx } from "../../../context";
import type { Tx } from "../../../db/statements";
import { seeOther } from "../../../http/answers";
import { actorOf, sessionOf, zoneOf } from "../../../http/request-context";
import { EmptyState, Shape, StatCard, StatCards } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { Sparkline } from "../../../ui/charts";
import { DialogForm } from "../../../ui/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import type { FlashMessage } from "../../../ui/frame/flashes";
import { HOME_PATH, keyPath, KEYS_PATH, withQuery } from "../../../ui/frame/paths";
import { crumbsAbove } from "../../../ui/frame/places";
import type { ScreenRequest } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import {
  BulkBar,
  CellNote,
  DenseDataTable,
  type DenseDataTableProps,
  ListCard,
  ListToolbar,
  OneLine,
  OrderSelect,
  type Sorting,
} from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { type Area, createArea } from "../../../ui/screens/area";
import { NoMatch, NoOlder, readOrder } from "../../../ui/screens/list";
import { changeSelected, SELECTION_MAX, selectionError } from "../../../ui/screens/selection";
import { RelativeTime } from "../../../ui/times";
import { nextStepLink, STEP } from "../../overview/screens/first-steps";
import { createKey, revokeKey, validateNewKey } from "../keys";
import {
  countKeys,
  freeNameLike,
  getKeyRow,
  type KeyCounts,
  type KeyListing,
  listKeyPage,
  listKeysById,
  listMatchingLiveKeys,
} from "../records";
import {
  isExpiringSoon,
  KEY_FILTERS,
  KEY_SORTS,
  type KeyFilter,
  type KeyOrder,
  stateOfKey,
} from "../rules";
import { findKey } from "../store";
import {
  addKeyRoutes,
  Creator,
  creatorLinks,
  type CreatorLinks,
  describeReach,
  KeyEnd,
  LastUse,
  LastUsed,
  revealValue,
  ScopeChips,
} from "./detail";
import {
  CreateKey,
  endpointsByScope,
  fillInPreset,
  KEY_FORM,
  presetValues,
  valuesLike,
} from "./forms";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyAdminRoutes(deps: AdminDependencies) {
  const { ctx, usage } = deps;
  const area = createArea(deps, KEYS_PATH, "admin");

  area.screen("", async (at) => {
    const list = await runInSlices(readKeyList(readKeyQuery(at.query), ctx.clock.now()));
    return {
      title: "API Keys",
      children: <KeyList {...list} links={creatorLinks(ctx, at, list.keys)} />,
    };
  });

  function* readKeyList(query: KeyListQuery, now: number) {
    const request = { ...query, limit: PAGE_SIZE, now };
    const { keys, nextBefore } = yield* listKeyPage(ctx.db, request, usage.pendingLastUse);
    const counts = yield* countKeys(ctx.db, now);
    const isWhole = nextBefore === null && query.before === undefined;
    const matching = isWhole ? 0 : yield* countMatching(query, counts, now);
    return { query, keys, nextBefore, matching, counts, now };
  }

  /** Counts the live keys that match; 1,001 stands for more. All filters but "all" find live keys only. */
  function* countMatching({ search, filter }: KeyListQuery, counts: KeyCounts, now: number) {
    if (search === "") return counts[filter === "all" ? "live" : filter];
    const query = { search, filter, limit: SELECTION_MAX + 1, now };
    return (yield* listMatchingLiveKeys(ctx.db, query)).length;
  }

  area.secretForm("/new", {
    form: KEY_FORM,
    initial({ query, requestContext }) {
      const { from } = query;
      if (!from) return presetValues(query["preset"]);
      const row = getKeyRow(ctx.db, from);
      const at = { now: ctx.clock.now(), timeZone: zoneOf(requestContext) };
      return valuesLike(row, freeNameLike(ctx.db, row.name), at);
    },
    load: (_, { query }) => ({
      now: ctx.clock.now(),
      endpoints: endpointsByScope(deps.routes),
      action: withQuery(`${KEYS_PATH}/new`, { [STEP]: query[STEP] }),
    }),
    show: (state) => ({ title: "Create API Key", children: <CreateKey state={state} /> }),
    redisplay: fillInPreset,
    create(tx, body, actor) {
      const made = createKey(ctx, tx, validateNewKey(body, ctx.clock.now()), actor);
      return { made, subjectId: made.key.id };
    },
    reveal(reveal, { query, requestContext }) {
      const isStep = query[STEP] !== undefined;
      const next = isStep
        ? (nextStepLink(ctx.db, requestContext) ?? { href: HOME_PATH })
        : undefined;
      return revealValue(deps, reveal, "Your new key", next);
    },
  });

  addSelectionRoutes(area, deps);
  addKeyRoutes(area, deps);
  return area.routes;
}

interface KeyListProps {
  query: KeyListQuery;
  keys: readonly KeyListing[];
  counts: KeyCounts;
  /** Position after the last key shown, if more follow. */
  nextBefore: string | null;
  /** Number of live keys that match, if the list has several parts. */
  matching: number;
  links: CreatorLinks;
  /** Unix ms. */
  now: number;
}

/** Counts of live keys that need attention. */
const CARDS = [
  { card: "expiring", label: "Expiring within 14 days" },
  { card: "never_expires", label: "Without expiry" },
  { card: "unused", label: "Unused for 90 days" },
  { card: "limited", label: "Rate-limited this week" },
] as const;

/** Settings → API Keys. */
function KeyList(props: KeyListProps) {
  const { query, keys, counts } = props;
  const { search, filter, order, before } = query;
  if (counts.all === 0) {
    return (
      <>
        <PageHead title="API Keys" crumbs={crumbsAbove(KEYS_PATH)} isList />
        <div id="key-list" data-live="">
          <NoKeys />
        </div>
      </>
    );
  }
  const isFiltered = search !== "" || filter !== "all";
  const pathOf = (changed: Partial<KeyListQuery>) =>
    keyListPath({ ...query, before: undefined, ...changed });
  const table = tableOf(props);
  const sorting: Sorting = {
    order,
    usual: "Newest first",
    pathOf: (sort) => keyListPath(readKeyQuery({ q: search, show: filter, sort })),
  };
  return (
    <>
      <PageHead title="API Keys" crumbs={crumbsAbove(KEYS_PATH)} actions={<CreateLink />} isList />
      <StatCards>
        {CARDS.map(({ card, label }) => (
          <StatCard
            key={card}
            label={label}
            value={counts[card]}
            href={pathOf({ filter: filter === card ? "all" : card })}
            isCurrent={filter === card}
          />
        ))}
      </StatCards>
      <div id="key-list" data-live="">
        <ListCard>
          <ListToolbar
            action={KEYS_PATH}
            search={{
              value: search,
              label: "Search by name, scope, creator, id or start of value",
              placeholder: "Name, scope or creator",
            }}
            hidden={filter === "all" ? {} : { show: filter }}
            clearHref={isFiltered ? pathOf({ search: "", filter: "all" }) : undefined}
            {...(isFiltered ? {} : { count: plural(counts.all, "key") })}
          >
            <OrderSelect sorting={sorting} columns={[table.name, ...table.columns]} />
          </ListToolbar>
          {keys.length > 0 ? (
            <SelectionForm {...props}>
              <DenseDataTable {...table} sorting={sorting} />
            </SelectionForm>
          ) : before !== undefined ? (
            <NoOlder what="keys" newest={pathOf({})} isOrdered={order !== undefined} />
          ) : (
            <NoMatch title="No keys match these filters" home={KEYS_PATH} />
          )}
          <Pagination
            isOrdered={order !== undefined}
            newestHref={before === undefined ? undefined : pathOf({})}
            olderHref={props.nextBefore ? pathOf({ before: props.nextBefore }) : undefined}
          />
        </ListCard>
      </div>
    </>
  );
}

function CreateLink() {
  return (
    <ButtonLink href={`${KEYS_PATH}/new`} kind="primary">
      <Icon name="plus" />
      Create API Key
    </ButtonLink>
  );
}

/** Form around the rows, whose button revokes the selected keys. */
function SelectionForm(props: KeyListProps & { children: ComponentChildren }) {
  const { query, matching, children } = props;
  const isOffered = matching > 0 && matching <= SELECTION_MAX;
  return (
    <form method="post" action={keyListPath(query, SELECTED_KEYS_PATH)}>
      <BulkBar
        label="Actions for the selected keys"
        all={isOffered ? { name: "all", count: matching } : undefined}
      >
        <Button kind="danger">Revoke</Button>
      </BulkBar>
      {children}
    </form>
  );
}

/** Returns the table of the listed keys. Keys that work can be selected. */
function tableOf({ keys, links, now }: KeyListProps) {
  return {
    caption: "API keys",
    liveId: "key-rows",
    entries: keys,
    pick: ({ id, name, state }) =>
      state === "live" ? { name: "id", value: id, label: `Select ${name}` } : undefined,
    isOver: ({ state }) => state !== "live",
    name: {
      label: "Key",
      sort: { key: "name" },
      cell: (key) => ({
        shape: <KeyShape of={key} now={now} />,
        href: keyPath(key.id),
        name: key.name,
        state: <KeyState of={key} now={now} />,
        note: <code>{key.start}…</code>,
      }),
    },
    columns: [
      {
        label: "Scopes",
        isSecondary: true,
        cell: ({ scopes }) => <ScopeChips scopes={scopes} />,
      },
      {
        label: "Rate limit, last 24 h",
        isBars: true,
        sort: { key: "limit", kind: "number" },
        cell: (key) => (
          <>
            <span class="nowrap">{key.rate_limit.toLocaleString("en")} / min</span>
            <Sparkline values={key.requests_24h} label={describeDay(key)} />
          </>
        ),
      },
      {
        label: "Last used",
        isNumeric: true,
        sort: { key: "used", kind: "time" },
        cell: (key) => (
          <>
            <LastUsed of={key} now={now} />
            {key.old_value ? <OldValue old={key.old_value} now={now} /> : null}
          </>
        ),
      },
      {
        label: "Created by",
        isSecondary: true,
        sort: { key: "created", kind: "time", usual: "descending" },
        cell: (key) => (
          <>
            <OneLine>
              <Creator of={key} links={links} />
            </OneLine>
            <CellNote>
              <RelativeTime at={key.created_at} now={now} />
            </CellNote>
          </>
        ),
      },
      {
        label: "Expires",
        isMiddle: true,
        sort: { key: "expires", kind: "time" },
        cell: (key) => <KeyEnd of={key} now={now} />,
      },
    ],
  } satisfies DenseDataTableProps<KeyListing>;
}

/** Returns the trouble of a key that works: its tone, and its words. */
function troubleOf({ state, expires_at: end, is_limited: isLimited }: KeyListing, now: number) {
  if (state !== "live") return undefined;
  if (isLimited) return "Rate-limited";
  return end !== null && isExpiringSoon(end, now) ? "Expires soon" : undefined;
}

function KeyShape({ of: key, now }: { of: KeyListing; now: number }) {
  const isOver = key.state !== "live";
  const tone: Tone = isOver ? "none" : troubleOf(key, now) ? "degraded" : "ok";
  return <Shape tone={tone} isPaused={isOver} />;
}

/** State after the name. That a key works is written only for screen readers, since the shape shows it. */
function KeyState({ of: key, now }: { of: KeyListing; now: number }) {
  const trouble = troubleOf(key, now);
  if (trouble) return <span class="state t-degraded">{trouble}</span>;
  return <span class="visually-hidden">, {key.state}</span>;
}

function OldValue({ old, now }: { old: NonNullable<KeyListing["old_value"]>; now: number }) {
  return (
    <CellNote>
      <OneLine>
        Old value ends <RelativeTime at={old.ends_at} now={now} />
      </OneLine>
    </CellNote>
  );
}

function describeDay({ requests_24h }: KeyListing): string {
  const total = sum(requests_24h);
  return `${plural(total, "request")} in the last 24 hours`;
}

function NoKeys() {
  return (
    <EmptyState title="No API keys yet" action={<CreateLink />}>
      A key lets a program use the API, for example to read statuses or report incidents. Its scopes
      limit what the program can do.
    </EmptyState>
  );
}

type Query = Readonly<Record<string, string | undefined>>;

/** Query of the list of keys. */
interface KeyListQuery {
  search: string;
  filter: KeyFilter;
  /** Undefined for the newest first. */
  order: KeyOrder | undefined;
  /** Position of the last key of the part before; undefined for the first part. */
  before: string | undefined;
}

/** Reads the query of the list. Invalid parameters are ignored. */
function readKeyQuery(query: Query): KeyListQuery {
  return {
    search: (query["q"] ?? "").trim(),
    filter: KEY_FILTERS.find((filter) => filter === query["show"]) ?? "all",
    order: readOrder(query, KEY_SORTS),
    before: query["before"] || undefined,
  };
}

/** Returns the address of the list, or of a form of its selected keys, with a query. */
function keyListPath(
  { search, filter, order, before }: KeyListQuery,
  path: string = KEYS_PATH,
): string {
  const show = filter === "all" ? undefined : filter;
  return withQuery(path, { q: search, show, sort: order, before });
}

/** Path to which the selected keys are sent. */
const SELECTED_KEYS_PATH = `${KEYS_PATH}/selected`;
const REVOKE_PATH = `${SELECTED_KEYS_PATH}/revoke`;

/** Adds the routes that ask before the selected keys are revoked, and revoke them. */
function addSelectionRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx, flashes, usage, writeAs } = deps;

  function back(at: ScreenRequest & { query: Query }, message: FlashMessage): Response {
    flashes.put(sessionOf(at.requestContext).id, message);
    return seeOther(keyListPath(readKeyQuery(at.query)));
  }

  // A browser can open these addresses with GET, such as after signing in again.
  for (const path of ["/selected", "/selected/revoke"] as const) {
    area.screen(path, () => ({ path: KEYS_PATH }));
  }

  area.post("/selected", async (at) => {
    const now = ctx.clock.now();
    const list = readKeyQuery(at.query);
    const ids =
      at.sent.text("all") === "1"
        ? await runInSlices(
            listMatchingLiveKeys(ctx.db, { ...list, limit: SELECTION_MAX + 1, now }),
          )
        : [...new Set(at.sent.all("id"))];
    const error = selectionError(ids, "key");
    if (error !== undefined) return back(at, { tone: "major", text: error });
    const found = listKeysById(ctx.db, ids, now, usage.pendingLastUse);
    const keys = found.filter(({ state }) => state === "live");
    if (keys.length === 0) {
      return back(at, { tone: "maint", text: "The selected keys do not work any more." });
    }
    const title = `Revoke ${plural(keys.length, "key")}`;
    return area.answer(at, { title, children: <RevokeSelected {...{ title, keys, list, now }} /> });
  });

  area.post("/selected/revoke", async (at) => {
    const ids = [...new Set(at.sent.all("id"))];
    const error = selectionError(ids, "key");
    if (error !== undefined) return back(at, { tone: "major", text: error });
    const actor = actorOf(at.requestContext);
    const { results, left } = await changeSelected(
      ids,
      (change) => writeAs(at.requestContext, change),
      (tx, id) => revokeIfLive(ctx, tx, id, actor),
    );
    const revoked = results.filter(Boolean).length;
    const ended = results.length - revoked;
    const are = (count: number) => `${plural(count, "key")} ${count === 1 ? "was" : "were"}`;
    const texts = [
      revoked > 0
        ? `${are(revoked)} revoked. ${describeReach(await ctx.findNodesBehind?.(), revoked)}`
        : undefined,
      ended > 0 ? `${are(ended)} no longer in use already.` : undefined,
      left > 0
        ? `${are(left)} not revoked, because the change could not be saved. Try again.`
        : undefined,
    ];
    const tone = left > 0 ? "major" : revoked > 0 ? "ok" : "maint";
    return back(at, { tone, text: texts.filter((text) => text !== undefined).join(" ") });
  });
}

/** Revokes a key that works. Returns false for one that has ended or does not exist. */
function revokeIfLive(ctx: Ctx, tx: Tx, id: string, actor: Actor): boolean {
  const row = findKey(tx, { id });
  if (!row || stateOfKey(row, ctx.clock.now()) !== "live") return false;
  revokeKey(ctx, tx, id, actor);
  return true;
}

interface RevokeSelectedProps {
  title: string;
  keys: readonly KeyListing[];
  /** Part of the list in which they were selected. */
  list: KeyListQuery;
  now: number;
}

/** Asks before selected keys are revoked, and names them with their last use. */
function RevokeSelected({ title, keys, list, now }: RevokeSelectedProps) {
  const inUse = keys.filter(({ requests_24h: requests }) => sum(requests) > 0).length;
  return (
    <DialogForm
      title={title}
      action={keyListPath(list, REVOKE_PATH)}
      button={title}
      isDanger
      cancelHref={keyListPath(list)}
    >
      <p>
        Every value of these keys stops working at once. This cannot be undone. The keys stay in the
        list.{" "}
        {inUse > 0 ? (
          <strong>{plural(inUse, "key")} made requests in the last 24 hours.</strong>
        ) : (
          "No request was made with them in the last 24 hours."
        )}
      </p>
      <ul class="plain-list chosen">
        {keys.map((key) => (
          <li key={key.id}>
            <input type="hidden" name="id" value={key.id} />
            <a href={keyPath(key.id)}>{key.name}</a> <code>{key.start}…</code>
            <CellNote>
              {plural(sum(key.requests_24h), "request")} in the last 24 hours.{" "}
              <LastUse listing={key} now={now} />
            </CellNote>
          </li>
        ))}
      </ul>
    </DialogForm>
  );
}
