import {
  type KeyCounts,
  type KeyFilter,
  type KeyListing,
  describeExpiry,
} from "../../features/keys";
import {
  ButtonLink,
  Cell,
  CellNote,
  Chip,
  Chips,
  EmptyState,
  Moment,
  PageHead,
  Pagination,
  plural,
  Row,
  RowLink,
  SearchForm,
  Sparkline,
  StatCard,
  StatCards,
  Table,
} from "../../ui";
import { KEYS_PATH, keyPath } from "./paths";

export interface KeyListScreen {
  keys: readonly KeyListing[];
  counts: KeyCounts;
  search: string;
  filter: KeyFilter;
  /** The position behind the last key shown, if more follow; and whether this is not the first page. */
  nextBefore: string | null;
  isContinued: boolean;
  /** Unix ms. */
  now: number;
}

const COLUMNS = [
  { label: "Key" },
  { label: "Scopes" },
  { label: "Limit, last 24 h" },
  { label: "Last used" },
  { label: "Created by" },
  { label: "Expires" },
];

/** The live keys that want a look. */
const CARDS = [
  { card: "expiring", label: "Expire within 14 days" },
  { card: "never_expires", label: "Never expire" },
  { card: "unused", label: "Unused for 90 days" },
  { card: "limited", label: "Limited this week" },
] as const;

/** Settings → API Keys. */
export function KeyList(props: KeyListScreen) {
  const { keys, counts, search, filter, now } = props;
  return (
    <>
      <PageHead
        title="API Keys"
        actions={
          <ButtonLink href={`${KEYS_PATH}/new`} kind="primary">
            Create API Key
          </ButtonLink>
        }
      />
      {counts.all > 0 ? (
        <>
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
          <SearchForm
            action={KEYS_PATH}
            value={search}
            label="Search names, scopes, people"
            hidden={filter === "all" ? {} : { show: filter }}
          />
        </>
      ) : null}
      {keys.length > 0 ? (
        <Table columns={COLUMNS} caption="API keys">
          {keys.map((key) => (
            <KeyRow key={key.id} listing={key} now={now} />
          ))}
        </Table>
      ) : (
        <NoKeys {...props} />
      )}
      <Pagination
        {...(props.isContinued ? { newestHref: listPath({ search, filter }) } : {})}
        {...(props.nextBefore
          ? { olderHref: listPath({ search, filter, before: props.nextBefore }) }
          : {})}
      />
    </>
  );
}

function KeyRow({ listing, now }: { listing: KeyListing; now: number }) {
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
      <Cell label="Limit">
        <span class="nowrap">{listing.rate_limit.toLocaleString("en")} / min</span>
        <Sparkline values={listing.requests_24h} label={describeDay(listing)} />
      </Cell>
      <Cell label="Last used">
        {listing.last_used_at ? (
          <>
            <Moment at={listing.last_used_at} now={now} />
            <CellNote>{listing.last_used_ip}</CellNote>
          </>
        ) : (
          <span class="muted">Never</span>
        )}
        {listing.old_value ? <OldValue old={listing.old_value} now={now} /> : null}
      </Cell>
      <Cell label="Created by">
        {listing.created_by.label}
        <CellNote>
          <Moment at={listing.created_at} now={now} />
        </CellNote>
      </Cell>
      <Cell label="Expires">
        {listing.revoked_at ? (
          <span class="muted">
            Revoked <Moment at={listing.revoked_at} now={now} />
          </span>
        ) : (
          <Expiry at={listing.expires_at} now={now} />
        )}
      </Cell>
    </Row>
  );
}

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

function OldValue({ old, now }: { old: NonNullable<KeyListing["old_value"]>; now: number }) {
  return (
    <CellNote>
      Old value ends <Moment at={old.ends_at} now={now} />
    </CellNote>
  );
}

/** When a key stops, in words. */
export function Expiry({ at, now }: { at: string | null; now: number }) {
  if (at === null) return <>Never</>;
  const { text, isPast } = describeExpiry(at, now);
  return isPast ? (
    <span class="muted">
      Expired <time dateTime={at}>{text}</time>
    </span>
  ) : (
    <time class="nowrap" dateTime={at}>
      {text}
    </time>
  );
}

function describeDay({ requests_24h }: KeyListing): string {
  const total = requests_24h.reduce((sum, count) => sum + count, 0);
  return `${plural(total, "request")} in the last 24 hours`;
}

function NoKeys({ counts, search, filter }: KeyListScreen) {
  if (counts.all > 0) {
    return (
      <EmptyState
        title="No key matches"
        action={<ButtonLink href={KEYS_PATH}>Show all keys</ButtonLink>}
      >
        {search === "" ? "No live key is in this group." : `Nothing found for “${search}”.`}
        {filter === "all" || search === "" ? "" : " The search looks in the chosen group only."}
      </EmptyState>
    );
  }
  return (
    <EmptyState
      title="No API keys yet"
      action={
        <ButtonLink href={`${KEYS_PATH}/new`} kind="primary">
          Create API Key
        </ButtonLink>
      }
    >
      A key lets a program read statuses, open incidents or run monitors through the API, with only
      the scopes that you choose.
    </EmptyState>
  );
}

function listPath(at: { search: string; filter: KeyFilter; before?: string }): string {
  const query = new URLSearchParams();
  if (at.search !== "") query.set("q", at.search);
  if (at.filter !== "all") query.set("show", at.filter);
  if (at.before !== undefined) query.set("before", at.before);
  const text = query.toString();
  return text === "" ? KEYS_PATH : `${KEYS_PATH}?${text}`;
}
