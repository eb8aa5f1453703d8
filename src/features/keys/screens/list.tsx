/* Screens of API keys: routes of the list and of the form for a new key, then the list. */
import { sum } from "../../../base/numbers";
import { plural } from "../../../base/text";
import { EmptyState, StatCard, StatCards, State } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { Sparkline } from "../../../ui/charts";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { keyPath, KEYS_PATH, withQuery } from "../../../ui/frame/paths";
import { crumbsAbove } from "../../../ui/frame/places";
import { Icon } from "../../../ui/icons";
import {
  Cell,
  CellNote,
  ListCard,
  ListToolbar,
  OneLine,
  Row,
  RowLink,
  Table,
} from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { createArea } from "../../../ui/screens/area";
import { NoMatch, NoOlder } from "../../../ui/screens/list";
import { RelativeTime } from "../../../ui/times";
import { createKey, validateNewKey } from "../keys";
import { countKeys, type KeyCounts, type KeyListing, listKeyPage } from "../records";
import { KEY_FILTERS, type KeyFilter } from "../rules";
import {
  addKeyRoutes,
  Creator,
  creatorLinks,
  type CreatorLinks,
  KeyEnd,
  LastUsed,
  revealValue,
  ScopeChips,
} from "./detail";
import { CreateKey, endpointsByScope, fillInPreset, KEY_FORM, presetValues } from "./forms";

const PAGE_SIZE = 50;

/** Settings → API Keys: for admins and owners. */
export function keyAdminRoutes(deps: AdminDependencies) {
  const { ctx, usage } = deps;
  const area = createArea(deps, KEYS_PATH, "admin");

  area.screen("", (at) => {
    const { query } = at;
    const now = ctx.clock.now();
    const search = (query["q"] ?? "").trim();
    const filter = readFilter(query["show"]);
    const before = query["before"];
    const request = { search, filter, limit: PAGE_SIZE, now, ...(before ? { before } : {}) };
    const { keys, nextBefore } = listKeyPage(ctx.db, request, usage.pendingLastUse);
    const list = { keys, counts: countKeys(ctx.db, now), search, filter, nextBefore, now };
    return {
      title: "API Keys",
      children: (
        <KeyList {...list} links={creatorLinks(ctx, at, keys)} isContinued={before !== undefined} />
      ),
    };
  });

  area.secretForm("/new", {
    form: KEY_FORM,
    initial: ({ query }) => presetValues(query["preset"]),
    load: () => ({ now: ctx.clock.now(), endpoints: endpointsByScope(deps.routes) }),
    show: (state) => ({ title: "Create API Key", children: <CreateKey state={state} /> }),
    redisplay: fillInPreset,
    create(tx, body, actor) {
      const made = createKey(ctx, tx, validateNewKey(body, ctx.clock.now()), actor);
      return { made, subjectId: made.key.id };
    },
    reveal: (reveal) => revealValue(deps, reveal, "Your new key"),
  });

  addKeyRoutes(area, deps);
  return area.routes;
}

function readFilter(text: string | undefined): KeyFilter {
  return KEY_FILTERS.find((filter) => filter === text) ?? "all";
}

interface KeyListProps {
  keys: readonly KeyListing[];
  counts: KeyCounts;
  search: string;
  filter: KeyFilter;
  /**
   * Position after the last key shown, if more follow. `isContinued` is true for every screen but
   * the first.
   */
  nextBefore: string | null;
  isContinued: boolean;
  links: CreatorLinks;
  /** Unix ms. */
  now: number;
}

const COLUMNS = [
  { label: "Key" },
  { label: "Scopes" },
  { label: "Rate limit, last 24 h" },
  { label: "Last used" },
  { label: "Created by" },
  { label: "Expires" },
];

/** Counts of live keys that need attention. */
const CARDS = [
  { card: "expiring", label: "Expire within 14 days" },
  { card: "never_expires", label: "Never expire" },
  { card: "unused", label: "Unused for 90 days" },
  { card: "limited", label: "Rate-limited this week" },
] as const;

/** Settings → API Keys. */
function KeyList(props: KeyListProps) {
  const { keys, counts, search, filter, now } = props;
  if (counts.all === 0) {
    return (
      <>
        <PageHead title="API Keys" crumbs={crumbsAbove(KEYS_PATH)} />
        <NoKeys />
      </>
    );
  }
  const isFiltered = search !== "" || filter !== "all";
  return (
    <>
      <PageHead title="API Keys" crumbs={crumbsAbove(KEYS_PATH)} actions={<CreateLink />} />
      <StatCards>
        {CARDS.map(({ card, label }) => (
          <StatCard
            key={card}
            label={label}
            value={counts[card]}
            href={listPath({ search, filter: filter === card ? "all" : card })}
            isCurrent={filter === card}
          />
        ))}
      </StatCards>
      <ListCard>
        <ListToolbar
          action={KEYS_PATH}
          search={{
            value: search,
            label: "Search by name, scope, creator, id or start of value",
            placeholder: "Name, scope or creator",
          }}
          hidden={filter === "all" ? {} : { show: filter }}
          clearHref={isFiltered ? KEYS_PATH : undefined}
          {...(isFiltered ? {} : { count: plural(counts.all, "key") })}
        />
        {keys.length > 0 ? (
          <Table columns={COLUMNS} caption="API keys" isInCard>
            {keys.map((key) => (
              <KeyRow key={key.id} listing={key} links={props.links} now={now} />
            ))}
          </Table>
        ) : props.isContinued ? (
          <NoOlder what="keys" newest={listPath({ search, filter })} />
        ) : (
          <NoMatch title="No keys match these filters" home={KEYS_PATH} />
        )}
        <Pagination
          {...(props.isContinued ? { newestHref: listPath({ search, filter }) } : {})}
          {...(props.nextBefore
            ? { olderHref: listPath({ search, filter, before: props.nextBefore }) }
            : {})}
        />
      </ListCard>
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

interface KeyRowProps {
  listing: KeyListing;
  links: CreatorLinks;
  now: number;
}

function KeyRow({ listing, links, now }: KeyRowProps) {
  const { state } = listing;
  return (
    <Row isOver={state !== "live"}>
      <Cell>
        <RowLink href={keyPath(listing.id)}>{listing.name}</RowLink>
        <CellNote>
          <code>{listing.start}…</code>
        </CellNote>
      </Cell>
      <Cell label="Scopes">
        <ScopeChips scopes={listing.scopes} />
      </Cell>
      <Cell label="Rate limit">
        <span class="nowrap">{listing.rate_limit.toLocaleString("en")} / min</span>
        <Sparkline values={listing.requests_24h} label={describeDay(listing)} />
        {listing.is_limited ? (
          <CellNote>
            <State tone="degraded">Rate-limited</State>
          </CellNote>
        ) : null}
      </Cell>
      <Cell label="Last used">
        <LastUsed of={listing} now={now} />
        {listing.old_value ? <OldValue old={listing.old_value} now={now} /> : null}
      </Cell>
      <Cell label="Created by">
        <OneLine>
          <Creator of={listing} links={links} />
        </OneLine>
        <CellNote>
          <RelativeTime at={listing.created_at} now={now} />
        </CellNote>
      </Cell>
      <Cell label="Expires">
        <KeyEnd of={listing} now={now} />
      </Cell>
    </Row>
  );
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

/** Returns the path of the list with other filters, or of its next part. */
function listPath(at: { search: string; filter: KeyFilter; before?: string }): string {
  const show = at.filter === "all" ? undefined : at.filter;
  return withQuery(KEYS_PATH, { q: at.search, show, before: at.before });
}
