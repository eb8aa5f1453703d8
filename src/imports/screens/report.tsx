import type { ComponentChildren } from "preact";
import {
  changeValueInWords,
  hasWork,
  type ImportChange,
  type ImportHistory,
  type ImportItem,
  type ImportReport,
  PRODUCTS,
  typeInWords,
  type Verdict,
  VERDICT_MEANINGS,
  verdictsInWords,
} from "../../base/import-report";
import type { Tone } from "../../base/status";
import { capitalised, plural } from "../../base/text";
import { toIso } from "../../base/time";
import { EmptyState, Facts, Notice, Shape, State } from "../../ui/blocks";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { DetailCard, HeadFact, HeadFacts } from "../../ui/detail";
import { DialogForm } from "../../ui/form";
import { importReportPath, IMPORTS_PATH, withQuery } from "../../ui/frame/paths";
import { crumbsTo } from "../../ui/frame/places";
import { Icon } from "../../ui/icons";
import {
  Cell,
  CellNote,
  FilterSelect,
  ListCard,
  ListToolbar,
  Row,
  RowLink,
  Table,
} from "../../ui/list";
import { PageHead, Pagination, Tabs } from "../../ui/navigation";
import { DateTime, RelativeTime, shortDay } from "../../ui/times";
import type { ImportJob } from "../jobs";

interface ReportProps {
  report: ImportReport;
  list: ItemListing;
  links: ReadonlyMap<string, string>;
  now: number;
}

/** Plan that waits for confirmation, or the result of an import that changed nothing. */
export function PlanScreen({ job, ...props }: ReportProps & { job: ImportJob }) {
  const { report, now } = props;
  const isPlan = job.state === "planned";
  const canImport = isPlan && hasWork(report);
  return (
    <>
      <PageHead
        title={`${isPlan ? "Plan of the import" : "Import"} from ${job.source.product}`}
        crumbs={crumbsTo(IMPORTS_PATH)}
        actions={
          <>
            {canImport ? (
              <PostButton action={importPlanPath(job.id)} kind="primary">
                Import
              </PostButton>
            ) : null}
            <PostButton action={`${importPlanPath(job.id)}/discard`}>
              {canImport ? "Discard plan" : "Close"}
            </PostButton>
            <ButtonLink href={importFormPath(job.source.kind, job.id)}>Change options</ButtonLink>
          </>
        }
      />
      <JobFacts job={job} now={now} />
      {canImport ? (
        <Notice tone="maint" title="Nothing was changed yet">
          The plan: {verdictsInWords(report.counts)}. The import writes all of it or nothing, and
          notifies nobody.
        </Notice>
      ) : (
        <Notice tone="none" title="Nothing to change">
          {capitalised(verdictsInWords(report.counts))}. An import would change nothing here.
        </Notice>
      )}
      <Content {...props} />
    </>
  );
}

/** Report of an import. */
export function ReportScreen(props: ReportProps & { pausedCount: number }) {
  const { report, pausedCount } = props;
  const { source, finished_at: finishedAt } = report;
  const path = importReportPath(report.id ?? "");
  return (
    <>
      <PageHead
        title={`Import from ${PRODUCTS[source.kind]}`}
        crumbs={crumbsTo(IMPORTS_PATH)}
        actions={
          <>
            {pausedCount === 0 ? null : (
              <ButtonLink href={`${path}/start`} kind="primary" dialog>
                <Icon name="play" />
                Start {plural(pausedCount, "object")}
              </ButtonLink>
            )}
            <ButtonLink href={`${path}/json`}>
              <Icon name="download" />
              Download JSON
            </ButtonLink>
          </>
        }
      />
      <HeadFacts>
        <HeadFact icon="tag">{source.name}</HeadFact>
        <HeadFact icon="clock">
          <DateTime at={Date.parse(finishedAt)} />
        </HeadFact>
        <HeadFact icon="check">{capitalised(verdictsInWords(report.counts))}</HeadFact>
      </HeadFacts>
      <Content {...props} />
    </>
  );
}

function Content({ report, list, links }: ReportProps) {
  return (
    <>
      <Instructions report={report} />
      {report.history ? <HistoryCard history={report.history} isPlan={report.dry_run} /> : null}
      <Items list={list} links={links} />
    </>
  );
}

/** Confirmation before the imported objects of an import are started. */
export function StartScreen({ id, count }: { id: string; count: number }) {
  const path = importReportPath(id);
  return (
    <DialogForm
      title={count === 0 ? "Nothing left to start" : "Start what was imported"}
      action={`${path}/start`}
      button="Start"
      cancelHref={path}
    >
      <p>
        {count === 0
          ? "Everything of this import was started or edited already."
          : `Starts ${plural(count, "object")} of this import. Those that were edited since stay as they are.`}
      </p>
    </DialogForm>
  );
}

/** Replacement of a plan that is no longer kept. */
export function NoPlan({ children }: { children?: ComponentChildren }) {
  return (
    <>
      <PageHead title="Plan" crumbs={crumbsTo(IMPORTS_PATH)} />
      <Notice tone="none" title="This plan is no longer kept">
        It was imported, discarded or replaced by a newer one, is older than 24 hours, or was lost
        by a restart of the server. If it was imported, its report is among the earlier imports.{" "}
        <a href={IMPORTS_PATH}>Show imports</a>
      </Notice>
      {children}
    </>
  );
}

/** Instructions of a plan or a report, and parts of the source that were not read. */
function Instructions({ report }: { report: ImportReport }) {
  const { to_do: toDo, not_read: notRead } = report;
  return (
    <>
      {toDo.length === 0 ? null : (
        <DetailCard title="To do" liveId="import-to-do" isStill count={String(toDo.length)}>
          <ul class="plain-list">
            {toDo.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </DetailCard>
      )}
      {notRead.length === 0 ? null : (
        <DetailCard
          title="Not read"
          liveId="import-not-read"
          isStill
          count={String(notRead.length)}
        >
          <p class="detail-note">
            This version does not know these parts of the source, so nothing was made of them.
          </p>
          <ul class="plain-list">
            {notRead.map((line) => (
              <li key={line}>
                <code>{line}</code>
              </li>
            ))}
          </ul>
        </DetailCard>
      )}
    </>
  );
}

interface HistoryCardProps {
  history: ImportHistory;
  /** True for a plan, which only estimates. */
  isPlan: boolean;
}

/** History of a plan or a report: results, period, and rows that were left out. */
function HistoryCard({ history, isPlan }: HistoryCardProps) {
  const { results, days, from, until, skipped } = history;
  const left = Object.entries(skipped);
  return (
    <DetailCard title="History" liveId="import-history" isStill isFlush>
      <Facts
        items={[
          {
            label: "Results",
            value: `${isPlan ? "About " : ""}${results.toLocaleString("en")}`,
          },
          {
            label: "Period",
            value:
              from === null || until === null
                ? "None"
                : `${plural(days, "day")}, ${shortDay(from)} to ${shortDay(until)}`,
          },
          ...(left.length === 0 ? [] : [{ label: "Left out", value: <LeftOut rows={left} /> }]),
        ]}
      />
    </DetailCard>
  );
}

/** Numbers of rows of a history that were not taken over, by reason. */
function LeftOut({ rows }: { rows: readonly [string, number][] }) {
  return (
    <ul class="plain-list">
      {rows.map(([reason, count]) => (
        <li key={reason}>
          {count.toLocaleString("en")}: {reason}
        </li>
      ))}
    </ul>
  );
}

const COLUMNS = [
  { label: "Verdict" },
  { label: "In the source" },
  { label: "Becomes" },
  { label: "Differences and reason" },
];

interface ItemsProps {
  list: ItemListing;
  /** Paths of the screens of objects that exist here, by id. */
  links: ReadonlyMap<string, string>;
}

/** Objects of a plan or a report, with filters by verdict and kind. */
function Items({ list, links }: ItemsProps) {
  const { items, verdict, from } = list;
  return (
    <>
      <VerdictTabs list={list} />
      <ListCard>
        <ItemToolbar list={list} />
        {verdict === undefined ? null : <p class="detail-body hint">{VERDICT_MEANINGS[verdict]}</p>}
        {items.length === 0 ? (
          <EmptyState title="No objects here">
            The source has none of this kind with this verdict.
          </EmptyState>
        ) : (
          <Table columns={COLUMNS} caption="Objects of the source" isInCard>
            {items.map((item) => (
              <ItemRow key={`${item.foreign.type}:${item.foreign.id}`} item={item} links={links} />
            ))}
          </Table>
        )}
        <Pagination
          newestHref={from === 0 ? undefined : itemsPath(list)}
          olderHref={nextPath(list)}
          newest="First"
          older="Next"
        />
      </ListCard>
    </>
  );
}

function VerdictTabs({ list }: { list: ItemListing }) {
  const shown = VERDICT_ORDER.filter((each) => each === list.verdict || list.counts.has(each));
  return (
    <div id="import-verdicts">
      <Tabs
        label="Objects by verdict"
        items={[
          {
            href: itemsPath(list, { verdict: undefined }),
            label: "All",
            count: list.total,
            isCurrent: list.verdict === undefined,
          },
          ...shown.map((verdict) => {
            const { label, tone, isPaused } = VERDICT_WORDS[verdict];
            return {
              href: itemsPath(list, { verdict }),
              label,
              shape: <Shape tone={tone} {...(isPaused ? { isPaused } : {})} />,
              count: list.counts.get(verdict) ?? 0,
              isCurrent: list.verdict === verdict,
            };
          }),
        ]}
      />
    </div>
  );
}

function ItemToolbar({ list }: { list: ItemListing }) {
  const { home, verdict, type, types, matching, from, items } = list;
  const isPart = items.length < matching;
  const count = isPart
    ? `${(from + 1).toLocaleString("en")} to ${(from + items.length).toLocaleString("en")} of ${plural(matching, "object")}`
    : plural(matching, "object");
  return (
    <ListToolbar
      action={home}
      hidden={verdict === undefined ? {} : { verdict }}
      clearHref={type === undefined ? undefined : itemsPath(list, { type: undefined })}
      count={count}
    >
      <FilterSelect
        label="Kind"
        name="type"
        options={[
          { value: "", label: "Every kind" },
          ...types.map((value) => ({ value, label: capitalised(typeInWords(value)[1]) })),
        ]}
        value={type ?? ""}
      />
    </ListToolbar>
  );
}

function ItemRow({ item, links }: { item: ImportItem; links: ReadonlyMap<string, string> }) {
  const { verdict, foreign, target, changes, reason } = item;
  const { label, tone, isPaused } = VERDICT_WORDS[verdict];
  const link = target?.id ? links.get(target.id) : undefined;
  return (
    <Row>
      <Cell label="Verdict">
        <span class="nowrap">
          <State tone={tone} {...(isPaused ? { isPaused } : {})}>
            {label}
          </State>
        </span>
      </Cell>
      <Cell label="In the source">
        <span class="item-name">{foreign.name}</span>
        <CellNote>{capitalised(typeInWords(foreign.type)[0])}</CellNote>
      </Cell>
      <Cell label="Becomes">
        {target === null ? (
          <span class="quiet-text">Nothing</span>
        ) : (
          <>
            {link === undefined ? (
              <span>{target.name}</span>
            ) : (
              <RowLink href={link}>{target.name}</RowLink>
            )}
            <CellNote>{capitalised(target.kind)}</CellNote>
          </>
        )}
      </Cell>
      <Cell label="Differences and reason">
        {reason === null ? null : <p>{reason}</p>}
        {changes.length === 0 ? null : (
          <ul class="plain-list">
            {changes.map((change, index) => (
              // Two changes may be about one field.
              <Change key={index} change={change} />
            ))}
          </ul>
        )}
        {reason === null && changes.length === 0 ? <span class="quiet-text">None</span> : null}
      </Cell>
    </Row>
  );
}

function Change({ change: { field, from, to, reason } }: { change: ImportChange }) {
  return (
    <li>
      <code>{field}</code>: {changeValueInWords(from)} → {changeValueInWords(to)}
      <CellNote>{reason}</CellNote>
    </li>
  );
}

/** Returns the name of the source of an import: "Healthchecks (default)". */
function sourceOf({ source, options }: ImportJob): string {
  return `${source.product} (${options.source})`;
}

/** Notice about the current import, with the link to it. Nothing for one that has ended well. */
export function JobNotice({ job }: { job: ImportJob }) {
  const { state, by, id } = job;
  if (state === "done") return null;
  const link = <a href={importPlanPath(id)}>{LINKS[state]}</a>;
  return (
    <Notice
      tone={state === "failed" ? "partial" : "maint"}
      title={`${TITLES[state]} ${sourceOf(job)}`}
    >
      {state === "failed" ? job.failure?.message : `By ${by}.`} {link}
    </Notice>
  );
}

const TITLES = {
  planning: "Planning an import from",
  planned: "A plan waits for confirmation: import from",
  importing: "Importing from",
  failed: "An import failed:",
} as const;

const LINKS = {
  planning: "Show progress",
  planned: "Show plan",
  importing: "Show progress",
  failed: "Show details",
} as const;

/** Screen of an import that is running. It may be left. */
export function ProgressScreen({ job, now }: { job: ImportJob; now: number }) {
  const isPlanning = job.state === "planning";
  return (
    <>
      <PageHead
        title={`${isPlanning ? "Planning the import from" : "Importing from"} ${job.source.product}`}
        crumbs={crumbsTo(IMPORTS_PATH)}
      />
      <JobFacts job={job} now={now} />
      <div id="import-progress" data-live="">
        <Ended job={job} />
        {job.state === "planning" || job.state === "importing" ? (
          <div role="status">
            <Notice
              tone="maint"
              title={isPlanning ? "The source is being read" : "The import is being written"}
            >
              <p>
                {job.progress
                  ? capitalised(job.progress)
                  : "This takes seconds, for a long history minutes."}
              </p>
              <p>
                You may leave this page: the import goes on, and Settings → Import leads back here.{" "}
                <a href={importPlanPath(job.id)}>Reload</a>
              </p>
              {isPlanning ? (
                <PostButton action={`${importPlanPath(job.id)}/discard`}>Cancel import</PostButton>
              ) : null}
            </Notice>
          </div>
        ) : null}
      </div>
    </>
  );
}

/** Result of an import that has ended while its progress was shown. */
function Ended({ job }: { job: ImportJob }) {
  const { state, id, report } = job;
  if (state === "planned") {
    return (
      <Notice tone="ok" title="The plan is ready">
        <a href={importPlanPath(id)}>Show plan</a>
      </Notice>
    );
  }
  if (state === "failed") return <FailureNotice job={job} />;
  if (state !== "done") return null;
  return (
    <Notice tone="ok" title="The import has ended">
      <a href={report?.id ? importReportPath(report.id) : importPlanPath(id)}>Show report</a>
    </Notice>
  );
}

/** Screen of an import that failed. */
export function FailedScreen({ job, now }: { job: ImportJob; now: number }) {
  return (
    <>
      <PageHead
        title={`Import from ${job.source.product}`}
        crumbs={crumbsTo(IMPORTS_PATH)}
        actions={
          <ButtonLink href={importFormPath(job.source.kind, job.id)} kind="primary">
            Try again
          </ButtonLink>
        }
      />
      <JobFacts job={job} now={now} />
      <FailureNotice job={job} />
    </>
  );
}

function FailureNotice({ job: { failure } }: { job: ImportJob }) {
  return (
    <div role="alert">
      <Notice tone="major" title="The import failed">
        <p>{failure?.message}</p>
        {failure && failure.fields.length > 0 ? (
          <ul class="plain-list">
            {failure.fields.map(({ pointer, detail }) => (
              <li key={pointer}>
                {pointer.slice(2)} {detail}
              </li>
            ))}
          </ul>
        ) : null}
      </Notice>
    </div>
  );
}

/** Line with the source, the file and the author of an import. */
function JobFacts({ job, now }: { job: ImportJob; now: number }) {
  const { place, options, by, startedAt } = job;
  return (
    <HeadFacts>
      <HeadFact icon="archive">{place}</HeadFact>
      <HeadFact icon="tag">{options.source}</HeadFact>
      <HeadFact icon="users">{by}</HeadFact>
      <HeadFact icon="clock">
        <RelativeTime at={toIso(startedAt)} now={now} />
      </HeadFact>
    </HeadFacts>
  );
}

/** Maximum number of objects on one screen. */
const ITEMS_MAX = 250;

type Query = Readonly<Record<string, string | undefined>>;

/** Objects of a plan or a report that a screen shows. */
interface ItemListing {
  /** Path of the screen without filters. */
  home: string;
  verdict: Verdict | undefined;
  /** Kind of objects in the words of the source. */
  type: string | undefined;
  /** All kinds in the report. */
  types: readonly string[];
  /** Numbers of objects of the kind by verdict, and of all of them. */
  counts: ReadonlyMap<Verdict, number>;
  total: number;
  items: readonly ImportItem[];
  /** Number of matching objects, and of those before the shown ones. */
  matching: number;
  from: number;
}

/** Returns the part of a report that a query asks for. Invalid filters are ignored. */
export function listItems({ items }: ImportReport, home: string, query: Query): ItemListing {
  const types = [...new Set(items.map(({ foreign }) => foreign.type))];
  const type = types.find((each) => each === query["type"]);
  const ofType = type === undefined ? items : items.filter(({ foreign }) => foreign.type === type);
  const counts = new Map<Verdict, number>();
  for (const { verdict } of ofType) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const verdict = VERDICT_ORDER.find((each) => each === query["verdict"]);
  const matching =
    verdict === undefined ? ofType : ofType.filter((item) => item.verdict === verdict);
  const asked = /^\d{1,6}$/.test(query["from"] ?? "") ? Number(query["from"]) : 0;
  const from = asked < matching.length ? asked : 0;
  return {
    home,
    verdict,
    type,
    types,
    counts,
    total: ofType.length,
    items: matching.toSorted(byVerdict).slice(from, from + ITEMS_MAX),
    matching: matching.length,
    from,
  };
}

/** Returns the path of a list with the same filters, except changed ones, from its beginning. */
function itemsPath(
  { home, verdict, type }: ItemListing,
  changed: { verdict?: Verdict | undefined; type?: string | undefined; from?: number } = {},
): string {
  const { from, ...filters } = { verdict, type, ...changed };
  return withQuery(home, { ...filters, from: from === undefined ? undefined : String(from) });
}

/** Returns the path of the next part; undefined at the end. */
function nextPath(list: ItemListing): string | undefined {
  const next = list.from + list.items.length;
  return next < list.matching ? itemsPath(list, { from: next }) : undefined;
}

interface VerdictWords {
  label: string;
  tone: Tone;
  isPaused?: true;
}

/** Verdicts in words, those that need a person first. */
const VERDICT_WORDS: Readonly<Record<Verdict, VerdictWords>> = {
  not_moved: {
    label: "Not moved",
    tone: "major",
  },
  held: {
    label: "Held",
    tone: "partial",
  },
  disabled: {
    label: "Disabled",
    tone: "none",
    isPaused: true,
  },
  changed: {
    label: "Changed",
    tone: "degraded",
  },
  kept: {
    label: "Kept",
    tone: "none",
  },
  updated: {
    label: "Updated",
    tone: "maint",
  },
  created: { label: "Created", tone: "ok" },
  unchanged: { label: "Unchanged", tone: "none" },
};

/** Verdicts in their order on screens. */
const VERDICT_ORDER = Object.keys(VERDICT_WORDS) as readonly Verdict[];

const RANKS = new Map(VERDICT_ORDER.map((verdict, rank) => [verdict, rank]));

/** Compares items by their verdicts, those that need a person first. */
function byVerdict(a: ImportItem, b: ImportItem): number {
  return (RANKS.get(a.verdict) ?? 0) - (RANKS.get(b.verdict) ?? 0);
}

/** Returns the path of the form for importing from a source of this kind, with the options of an earlier plan. */
export function importFormPath(kind: string, planId?: string): string {
  return withQuery(`${IMPORTS_PATH}/from/${encodeURIComponent(kind)}`, { plan: planId });
}

/** Returns the path of the plan of an import, which also shows its progress. */
export function importPlanPath(id: string): string {
  return `${IMPORTS_PATH}/plans/${encodeURIComponent(id)}`;
}
