/* The monthly report of a page: its document, and its content, which the dashboard shows as well. */
import type { ComponentChildren } from "preact";
import { lazy } from "../base/lazy";
import { toIso } from "../base/time";
import type { Report, ReportedComponent, ReportedEntry } from "../features/reports/report";
import type { UptimeFigures } from "../features/analytics/wire";
import { PARTIAL_FACTOR } from "../features/components/rules";
import type { StatusDocument } from "../features/status/wire";
import { State } from "../ui/blocks";
import { safeHref } from "../ui/buttons";
import style from "../ui/css/report.css" with { type: "text" };
import { DayChart, runsOf } from "../ui/day-charts";
import type { HtmlDocument } from "../ui/documents";
import { minifyCss } from "../ui/style-sheet";
import { type PageWords, useWords } from "../ui/words";
import { drawDays } from "./component-list";
import { arrowsOf } from "./entry-pages";
import { contextOf, type Rendering } from "./page-context";
import { renderPage } from "./page-document";
import type { PageTimes } from "./page-times";
import { IncidentState, MaintenanceState } from "./state";

const reportCss = lazy(() => minifyCss(style));

/** Renders the report of a month as visitors see it. */
export function renderReportPage(
  document: StatusDocument,
  report: Report,
  rendering?: Rendering,
): HtmlDocument {
  const context = contextOf(document, rendering);
  const { paths, times, words } = context;
  const { t, say } = words;
  const { month } = report;
  const title = { month: times.month(month.name) };
  const [back, on] = arrowsOf(words);
  return renderPage({
    context,
    title: t("report.title", title),
    path: paths.report(month.name),
    css: reportCss(),
    children: (
      <>
        <header class="title">
          <h1>{say("report.title", title)}</h1>
        </header>
        <nav class="months" aria-label={t("history.months")}>
          {month.previous ? (
            <a rel="prev" href={paths.report(month.previous)}>
              {back} {times.month(month.previous)}
            </a>
          ) : (
            <span />
          )}
          {month.next ? (
            <a rel="next" href={paths.report(month.next)}>
              {times.month(month.next)} {on}
            </a>
          ) : null}
        </nav>
        <ReportContent report={report} times={times} pathOf={({ kind, id }) => paths[kind](id)} />
      </>
    ),
  });
}

interface ReportContentProps {
  report: Report;
  times: PageTimes;
  /** Returns the path of an incident or maintenance. */
  pathOf(entry: ReportedEntry): string;
  /** Returns the path of a component; absent if components have no page of their own. */
  componentPathOf?: (id: string) => string;
  /** False if the document explains the method itself. */
  hasMethods?: boolean;
}

/** Figures, components, incidents, maintenance, response times and method of a report. */
export function ReportContent(props: ReportContentProps) {
  const { report, times, hasMethods = true } = props;
  const words = useWords();
  const { say, t } = words;
  const { total, components, incidents, maintenance, changedSince, isOver, until } = report;
  const { isTruncated } = report;
  const measured = components.filter(({ latency }) => latency !== undefined);
  return (
    <div class="report">
      {isOver && changedSince === undefined ? null : (
        <div class="report-lines muted">
          {isOver ? null : (
            <p>{say("report.so_far", { time: <UtcTime at={until} times={times} /> })}</p>
          )}
          {changedSince === undefined ? null : (
            <p>{say("report.changed", { time: <UtcTime at={changedSince} times={times} /> })}</p>
          )}
        </div>
      )}
      <dl class="card report-figures">
        <Figure label={say("days.uptime")} value={shareOf(total.uptime, words)} />
        <Figure
          label={say("report.incidents")}
          value={countOf(incidents, isTruncated.incident, words)}
        />
        <Figure
          label={say("planned.title")}
          value={countOf(maintenance, isTruncated.maintenance, words)}
        />
        <Figure label={say("status.no_data")} value={noDataShare(total, words)} />
      </dl>
      <Components {...props} />
      <Entries
        {...props}
        title={t("report.incidents")}
        none={say("report.no_incidents")}
        entries={incidents}
        isTruncated={isTruncated.incident}
      />
      <Entries
        {...props}
        title={t("planned.title")}
        none={say("report.no_maintenance")}
        entries={maintenance}
        isTruncated={isTruncated.maintenance}
      />
      {measured.length === 0 ? null : <ResponseTimes {...props} components={measured} />}
      {hasMethods ? (
        <>
          <h2>{say("method.title")}</h2>
          <div class="report-lines muted">
            <p>{say("report.method", { factor: PARTIAL_FACTOR })}</p>
            {measured.length === 0 ? null : <p>{say("report.method_response")}</p>}
          </div>
        </>
      ) : null}
    </div>
  );
}

function Figure({ label, value }: { label: ComponentChildren; value: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
}

/** Day and time in UTC. */
function UtcTime({ at, times }: { at: number; times: PageTimes }) {
  const iso = toIso(at);
  return (
    <time dateTime={iso} lang={times.lang}>
      {times.day(iso)} {times.clock(iso)}
    </time>
  );
}

function shareOf(share: number | null, { percent }: PageWords): string {
  return share === null ? "–" : percent(share);
}

/** Returns the share of the time without data, of which a little is never shown as none. */
function noDataShare(figures: UptimeFigures, words: PageWords): string {
  const { percent } = words;
  const { counted_ms: counted, maintenance_ms: maintenance, no_data_ms: none } = figures;
  const whole = counted + maintenance + none;
  if (whole === 0) return "–";
  // Rounded up, since `percent` rounds down.
  return none === 0
    ? percentOf(0, words)
    : percent(Math.min(1, Math.ceil((none / whole) * 1e4) / 1e4));
}

function countOf(
  { length }: readonly unknown[],
  isTruncated: boolean,
  { locale }: PageWords,
): string {
  return `${length.toLocaleString(locale)}${isTruncated ? "+" : ""}`;
}

/** Returns a length of time; an empty text for none. */
function timeOf(ms: number | null, { lasting }: PageWords): string {
  return ms === null || ms === 0 ? "" : lasting(toIso(0), toIso(ms));
}

/** Returns a number of per cent with all of its digits: "99.95 %". */
function percentOf(value: number, { locale, isEnglish }: PageWords): string {
  const digits = { maximumFractionDigits: 10 };
  return isEnglish
    ? `${value.toLocaleString("en", digits)} %`
    : (value / 100).toLocaleString(locale, { style: "percent", ...digits });
}

/** Cell of a figure. Its label is shown on narrow screens, where the table has no head. */
function FigureCell({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <td role="cell" class="figure" data-label={label}>
      {children}
    </td>
  );
}

interface HeadProps {
  caption: string;
  /** Heads of the columns, of which all but the first `names` are of figures. */
  labels: readonly string[];
  names: number;
}

/** Head of a table. Roles are written out, since narrow screens show its rows as blocks. */
function Head({ caption, labels, names }: HeadProps) {
  return (
    <>
      <caption class="unseen visually-hidden">{caption}</caption>
      <thead role="rowgroup">
        <tr role="row">
          {labels.map((label, index) => (
            <th key={label} role="columnheader" scope="col" class={index < names ? "" : "figure"}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
    </>
  );
}

function Components({ report, times, componentPathOf }: ReportContentProps) {
  const words = useWords();
  const { t, say } = words;
  const { components, total } = report;
  const hasGoals = components.some(({ row }) => row.uptimeGoal !== null);
  const labels = {
    uptime: t("days.uptime"),
    goal: t("report.goal"),
    major: t("status.major_outage"),
    partial: t("status.partial_outage"),
    maintenance: t("key.maintenance"),
    none: t("status.no_data"),
  };
  const { goal: _, ...withoutGoal } = labels;
  const timesOf = (figures: UptimeFigures) => (
    <>
      <FigureCell label={labels.major}>{timeOf(figures.major_outage_ms, words)}</FigureCell>
      <FigureCell label={labels.partial}>{timeOf(figures.partial_outage_ms, words)}</FigureCell>
      <FigureCell label={labels.maintenance}>{timeOf(figures.maintenance_ms, words)}</FigureCell>
      <FigureCell label={labels.none}>{timeOf(figures.no_data_ms, words)}</FigureCell>
    </>
  );
  return (
    <>
      <h2>{say("components.title")}</h2>
      {components.length === 0 ? (
        <p class="muted">{say("now.no_components")}</p>
      ) : (
        <div class="card">
          <table class="report-table" role="table">
            <Head
              caption={t("components.title")}
              labels={[t("components.title"), ...Object.values(hasGoals ? labels : withoutGoal)]}
              names={1}
            />
            <tbody role="rowgroup">
              {components.map((component) => (
                <tr key={component.row.id} role="row">
                  <th role="rowheader" scope="row">
                    <ComponentName {...{ component, componentPathOf }} />
                    <DayChart
                      label={t("days.chart", { name: component.row.name })}
                      runs={runsOf(drawDays(component.days), times, words)}
                      minDays={component.days.length}
                    />
                  </th>
                  <FigureCell label={labels.uptime}>
                    {shareOf(component.figures.uptime, words)}
                  </FigureCell>
                  {hasGoals ? (
                    <FigureCell label={labels.goal}>
                      <Goal component={component} />
                    </FigureCell>
                  ) : null}
                  {timesOf(component.figures)}
                </tr>
              ))}
              {components.length < 2 ? null : (
                <tr role="row" class="sum">
                  <th role="rowheader" scope="row">
                    {say("components.all")}
                  </th>
                  <FigureCell label={labels.uptime}>{shareOf(total.uptime, words)}</FigureCell>
                  {hasGoals ? <td role="cell" class="figure" /> : null}
                  {timesOf(total)}
                </tr>
              )}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function ComponentName({
  component: { row, group },
  componentPathOf,
}: Pick<ReportContentProps, "componentPathOf"> & { component: ReportedComponent }) {
  return (
    <>
      {componentPathOf ? (
        <a dir="auto" href={safeHref(componentPathOf(row.id))}>
          {row.name}
        </a>
      ) : (
        <bdi>{row.name}</bdi>
      )}
      {group === null ? null : (
        <span class="note">
          <bdi>{group}</bdi>
        </span>
      )}
    </>
  );
}

function Goal({ component: { row, isMet } }: { component: ReportedComponent }) {
  const words = useWords();
  if (row.uptimeGoal === null) return null;
  return (
    <span>
      {percentOf(row.uptimeGoal, words)}
      {isMet === null ? null : (
        <span class="note">
          <State tone={isMet ? "ok" : "partial"}>
            {words.say(isMet ? "report.met" : "report.missed")}
          </State>
        </span>
      )}
    </span>
  );
}

interface EntriesProps extends ReportContentProps {
  title: string;
  /** Sentence for none. */
  none: ComponentChildren;
  entries: readonly ReportedEntry[];
  /** True if older entries were left out. */
  isTruncated: boolean;
}

function Entries({ times, pathOf, title, none, entries, isTruncated }: EntriesProps) {
  const words = useWords();
  const { t, say } = words;
  const labels = [title, t("entry.started"), t("entry.ended"), t("report.in_month")];
  return (
    <>
      <h2>{title}</h2>
      {entries.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <div class="card">
          <table class="report-table" role="table">
            <Head caption={title} labels={labels} names={3} />
            <tbody role="rowgroup">
              {entries.map((entry) => (
                <tr key={entry.id} role="row">
                  <th role="rowheader" scope="row">
                    <a
                      dir="auto"
                      lang={words.langOf(entry.nameLang)}
                      href={safeHref(pathOf(entry))}
                    >
                      {entry.name}
                    </a>
                    <span class="note">
                      {entry.kind === "incident" ? (
                        <IncidentState incident={entry} />
                      ) : (
                        <MaintenanceState maintenance={entry} />
                      )}
                    </span>
                  </th>
                  <td role="cell" data-label={labels[1]}>
                    <UtcTime at={entry.from} times={times} />
                  </td>
                  <td role="cell" data-label={labels[2]}>
                    {entry.to === null ? (
                      say("past.ongoing")
                    ) : (
                      <UtcTime at={entry.to} times={times} />
                    )}
                  </td>
                  <FigureCell label={t("report.in_month")}>
                    {words.lasting(toIso(0), toIso(entry.lasted))}
                  </FigureCell>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {isTruncated ? <p class="muted">{say("list.more_unknown")}</p> : null}
    </>
  );
}

function ResponseTimes({
  components,
  componentPathOf,
}: ReportContentProps & { components: readonly ReportedComponent[] }) {
  const words = useWords();
  const { t, say, latency: write, locale } = words;
  const labels = [
    t("report.median"),
    t("report.p95"),
    t("report.checks"),
    t("report.failed"),
  ] as const;
  return (
    <>
      <h2>{say("report.response")}</h2>
      <div class="card">
        <table class="report-table" role="table">
          <Head
            caption={t("report.response")}
            labels={[t("components.title"), ...labels]}
            names={1}
          />
          <tbody role="rowgroup">
            {components.map((component) => {
              const { p50Ms, p95Ms, checks = 0, failures = 0 } = component.latency ?? {};
              return (
                <tr key={component.row.id} role="row">
                  <th role="rowheader" scope="row">
                    <ComponentName {...{ component, componentPathOf }} />
                  </th>
                  <FigureCell label={labels[0]}>{p50Ms == null ? "–" : write(p50Ms)}</FigureCell>
                  <FigureCell label={labels[1]}>{p95Ms == null ? "–" : write(p95Ms)}</FigureCell>
                  <FigureCell label={labels[2]}>{checks.toLocaleString(locale)}</FigureCell>
                  <FigureCell label={labels[3]}>{failures.toLocaleString(locale)}</FigureCell>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}
