import { sum } from "../../../base/numbers";
import { plural } from "../../../base/text";
import type { Ctx } from "../../../context";
import { sessionOf } from "../../../http/request-context";
import { Chip, Chips, EmptyState, StatCard, StatCards, State } from "../../../ui/blocks";
import { ButtonLink } from "../../../ui/buttons";
import { keyPath, KEYS_PATH, withQuery } from "../../../ui/frame/paths";
import type { ScreenRequest } from "../../../ui/frame/render";
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
import { NoMatch, NoOlder } from "../../../ui/screens/list";
import { Sparkline } from "../../../ui/charts";
import { RelativeTime } from "../../../ui/times";
import { linksOf } from "../../activity/screens/target-links";
import type { KeyCounts, KeyListing, KeyUsageSummary } from "../records";
import { describeExpiry, isExpiringSoon, type KeyFilter } from "../rules";

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
export function KeyList(props: KeyListProps) {
  const { keys, counts, search, filter, now } = props;
  if (counts.all === 0) {
    return (
      <>
        <PageHead title="API Keys" />
        <NoKeys />
      </>
    );
  }
  const isFiltered = search !== "" || filter !== "all";
  return (
    <>
      <PageHead title="API Keys" actions={<CreateLink />} />
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

/** Expiry or revocation of a key, as text. Highlighted if the key expires soon. */
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
  const { text, isPast } = describeExpiry(expires_at, now);
  if (isPast) {
    return (
      <span class="quiet-text">
        <OneLine>
          Expired <time dateTime={expires_at}>{text}</time>
        </OneLine>
      </span>
    );
  }
  const isSoon = isExpiringSoon(expires_at, now);
  return (
    <>
      <time class="nowrap" dateTime={expires_at}>
        {text}
      </time>
      {isSoon ? (
        <CellNote>
          <State tone="degraded">Expires soon</State>
        </CellNote>
      ) : null}
    </>
  );
}

/** Counts of the last day's responses: "3 requests (2 succeeded, 1 rate-limited)." */
export function UsageSentence({ usage }: { usage: KeyUsageSummary }) {
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
  if (last_used_at === null) return <span class="quiet-text">Never</span>;
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
