import type { KeyCounts, KeyFilter, KeyListing } from "../../features/keys";
import { sum } from "../../kernel/numbers";
import { plural } from "../../kernel/text";
import {
  ButtonLink,
  Cell,
  CellNote,
  Chip,
  EmptyState,
  ListToolbar,
  RelativeTime,
  OneLine,
  PageHead,
  Pagination,
  Row,
  RowLink,
  Sparkline,
  StatCard,
  StatCards,
  Table,
} from "../../ui";
import { KEYS_PATH, keyPath } from "../paths";
import { KeyEnd, LastUsed, ScopeChips } from "./parts";

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
          <ListToolbar
            isCard
            action={KEYS_PATH}
            search={{
              value: search,
              label: "Search by name, scope, creator, id or start of value",
              placeholder: "Search keys",
            }}
            hidden={filter === "all" ? {} : { show: filter }}
            clearHref={search === "" ? undefined : listPath({ search: "", filter })}
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
      <Cell label="Rate limit">
        <span class="nowrap">{listing.rate_limit.toLocaleString("en")} / min</span>
        <Sparkline values={listing.requests_24h} label={describeDay(listing)} />
        {listing.is_limited ? (
          <CellNote>
            <Chip tone="degraded">Rate-limited</Chip>
          </CellNote>
        ) : null}
      </Cell>
      <Cell label="Last used">
        <LastUsed of={listing} now={now} />
        {listing.old_value ? <OldValue old={listing.old_value} now={now} /> : null}
      </Cell>
      <Cell label="Created by">
        <OneLine>{listing.created_by.label}</OneLine>
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

function NoKeys({ counts, search, filter }: KeyListProps) {
  if (counts.all > 0) {
    return (
      <EmptyState
        title="No key matches"
        action={<ButtonLink href={KEYS_PATH}>Show all keys</ButtonLink>}
      >
        {whyNoKeys(search, filter)}
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
      A key lets a program use the API, for example to read statuses or report incidents. Its scopes
      limit what the program can do.
    </EmptyState>
  );
}

function whyNoKeys(search: string, filter: KeyFilter): string {
  if (search === "") {
    return filter === "all" ? "The list ends before here." : "No active key matches this card.";
  }
  const where = filter === "all" ? "" : " Only the selected card was searched.";
  return `Nothing found for “${search}”.${where}`;
}

function listPath(at: { search: string; filter: KeyFilter; before?: string }): string {
  const query = new URLSearchParams();
  if (at.search !== "") query.set("q", at.search);
  if (at.filter !== "all") query.set("show", at.filter);
  if (at.before !== undefined) query.set("before", at.before);
  const text = query.toString();
  return text === "" ? KEYS_PATH : `${KEYS_PATH}?${text}`;
}
