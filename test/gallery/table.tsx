import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toIso } from "../../src/base/time";
import {
  Cell,
  CellNote,
  type Column,
  FilterDate,
  FilterSelect,
  ListToolbar,
  OrderSelect,
  Row,
  RowLink,
  type Sorting,
  Table,
} from "../../src/ui/list";
import { Chip, Chips, StatCard, StatCards } from "../../src/ui/blocks";
import { Day, RelativeTime } from "../../src/ui/times";
import { Sparkline } from "../../src/ui/charts";

interface Example {
  name: string;
  start: string;
  scopes: string[];
  limit: number;
  usedMsAgo?: number;
  by: string;
  endsInMs?: number;
  isOver?: boolean;
}

const EXAMPLES: Example[] = [
  {
    name: "Deploy bot",
    start: "allclear_9fQ2",
    scopes: ["write:incidents", "write:components", "write:maintenance"],
    limit: 1_000,
    usedMsAgo: 2 * MINUTE_MS,
    by: "Ada Lovelace",
    endsInMs: 83 * DAY_MS,
  },
  {
    name: "Grafana",
    start: "allclear_Tz81",
    scopes: ["read:analytics", "read:status"],
    limit: 300,
    usedMsAgo: 14 * SECOND_MS,
    by: "Ada Lovelace",
  },
  {
    name: "On-call script with a name that is longer than a name needs to be",
    start: "allclear_0KxP",
    scopes: ["write:incidents"],
    limit: 60,
    usedMsAgo: 104 * DAY_MS,
    by: "Lin",
  },
  {
    name: "Terraform",
    start: "allclear_hh3C",
    scopes: ["manage:monitors", "manage:webhooks"],
    limit: 1_000_000,
    by: "Lin",
    endsInMs: 9 * DAY_MS,
  },
  {
    name: "Old banner",
    start: "allclear_b7Lm",
    scopes: ["read:status"],
    limit: 1_000,
    usedMsAgo: 3 * HOUR_MS,
    by: "Lin",
    isOver: true,
  },
];

const COLUMNS: readonly Column[] = [
  { label: "Name", sort: { key: "name" } },
  { label: "Scopes" },
  { label: "Limit", isNumeric: true, sort: { key: "limit", kind: "number" } },
  { label: "Last used", sort: { key: "used", kind: "time" } },
  { label: "Expires" },
];

/** A list with counts, search and columns. */
export function GalleryTable({ path, now }: { path: string; now: number }) {
  const sorting: Sorting = {
    order: "-used",
    usual: "Newest first",
    pathOf: (order) => `${path}?sort=${order ?? ""}`,
  };
  return (
    <>
      <StatCards>
        <StatCard label="expires within 14 days" value={1} href={path} isCurrent />
        <StatCard label="never expire" value={3} href={path} />
        <StatCard label="unused for 90 days" value={1} href={path} />
        <StatCard label="hit their limit this week" value={12_408} />
      </StatCards>
      <ListToolbar
        action={path}
        search={{ value: "bot", label: "Search by name or scope", placeholder: "Search keys" }}
        hidden={{ state: "live" }}
        clearHref={path}
        count="5 keys"
        inForce={2}
        hasDates
        isCard
      >
        <FilterSelect
          label="Page"
          name="page"
          value="store"
          options={[
            { value: "", label: "Every page" },
            { value: "store", label: "Store" },
          ]}
        />
        <FilterDate label="From" name="from" value="2026-11-01" />
        <OrderSelect sorting={sorting} columns={COLUMNS} />
      </ListToolbar>
      <Table caption="API keys" columns={COLUMNS} sorting={sorting}>
        {EXAMPLES.map((example) => (
          <ExampleRow key={example.name} example={example} path={path} now={now} />
        ))}
      </Table>
    </>
  );
}

function ExampleRow({ example, path, now }: { example: Example; path: string; now: number }) {
  const { name, usedMsAgo, endsInMs } = example;
  return (
    <Row isOver={example.isOver ?? false}>
      <Cell>
        <RowLink href={path}>{name}</RowLink>
        <CellNote>
          <span class="mono">{example.start}…</span>
        </CellNote>
      </Cell>
      <Cell label="Scopes">
        <Chips>
          {example.scopes.map((scope) => (
            <Chip key={scope} isCode>
              {scope}
            </Chip>
          ))}
        </Chips>
      </Cell>
      <Cell label="Limit" isNumeric>
        {example.limit.toLocaleString("en")}/min
        <Sparkline values={hours(name.length)} label="Requests in the last 24 hours" />
      </Cell>
      <Cell label="Last used">
        {usedMsAgo === undefined ? (
          "Never"
        ) : (
          <RelativeTime
            at={toIso(now - usedMsAgo)}
            now={now}
            {...(usedMsAgo > 90 * DAY_MS ? { tone: "degraded" as const } : {})}
          />
        )}
        <CellNote>made by {example.by}</CellNote>
      </Cell>
      <Cell label="Expires">
        {example.isOver ? (
          <Chip>Revoked</Chip>
        ) : endsInMs === undefined ? (
          "Never"
        ) : endsInMs < 14 * DAY_MS ? (
          <RelativeTime at={toIso(now + endsInMs)} now={now} tone="degraded" />
        ) : (
          <Day at={toIso(now + endsInMs)} />
        )}
      </Cell>
    </Row>
  );
}

/** Sample request counts, the same for the same seed. */
function hours(seed: number): number[] {
  return Array.from({ length: 24 }, (_, hour) => Math.max(0, ((hour * seed * 7) % 23) - 4));
}
