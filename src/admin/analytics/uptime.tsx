import { METHODS, type UptimeFigures } from "../../features/analytics/model";
import { percent } from "../../base/numbers";
import { plural } from "../../base/text";
import { DAY_MS, toIso } from "../../base/time";
import { ButtonLink } from "../../ui/buttons";
import { Cell, CellNote, Row, Table } from "../../ui/list";
import { EmptyState, Notice, Section } from "../../ui/blocks";
import { exactTime, longDay } from "../../ui/times";
import { Icon } from "../../ui/icons";
import { timeInWords } from "../monitors/words";
import { labelAmong } from "../../ui/frame/page-choice";
import { ANALYTICS_PATH, componentPath, monitorPath } from "../../ui/frame/paths";
import { AnalyticsFrame } from "./frame";
import { selectionPath, UPTIME_CSV_PATH } from "./selection";
import { UptimeCharts, UptimeNumbers } from "./uptime-charts";
import { MONITORS_MAX, type PageUptime, type UptimeView } from "./uptime-view";

type Line = UptimeView["others"][number];

const COLUMNS = [
  { label: "Component or monitor" },
  { label: "Uptime", isNumeric: true },
  { label: "Down", isNumeric: true },
  { label: "Degraded", isNumeric: true },
  { label: "Maintenance", isNumeric: true },
  { label: "No data", isNumeric: true },
];

/** `/admin/analytics`: uptime of components and monitors in a period. */
export function Uptime({ view }: { view: UptimeView }) {
  const { selection, ofPage, ofPages, others, hasTooMany, isTruncated } = view;
  const isEmpty =
    !hasTooMany &&
    (ofPage?.components.length ?? 0) === 0 &&
    ofPages.length === 0 &&
    others.length === 0;
  return (
    <AnalyticsFrame
      path={ANALYTICS_PATH}
      selection={selection}
      hasPage
      hasSpan
      methods={[
        { of: "components", method: METHODS.uptimeOfComponents },
        { of: "monitors", method: METHODS.uptimeOfMonitors },
      ]}
      actions={
        isEmpty ? undefined : (
          <ButtonLink href={selectionPath(UPTIME_CSV_PATH, selection)}>
            <Icon name="download" />
            Download CSV
          </ButtonLink>
        )
      }
    >
      <p class="muted">{spanOf(view)}</p>
      {hasTooMany ? (
        <Notice tone="maint" title="There are too many components to show at once">
          The API returns the uptime of a single component.
        </Notice>
      ) : null}
      {isTruncated ? (
        <Notice tone="maint" title={`Only ${plural(MONITORS_MAX, "monitor")} are shown`}>
          The API returns the uptime of a single monitor.
        </Notice>
      ) : null}
      {isEmpty ? (
        <EmptyState title="No components or monitors yet">
          Uptime appears here once there are components or monitors.
        </EmptyState>
      ) : null}
      {ofPage ? <OfPage uptime={ofPage} isUntilToday={view.to === view.now} /> : null}
      {ofPages.length > 0 ? <Pages view={view} /> : null}
      {others.length > 0 ? (
        <Section title="Monitors without a component">
          <Table columns={COLUMNS} caption="Uptime of monitors without a component">
            {others.map((line) => (
              <LineRow key={line.id} line={line} />
            ))}
          </Table>
        </Section>
      ) : null}
    </AnalyticsFrame>
  );
}

/** Returns the days of a period as text, or the times of the last 24 hours. Its end is exclusive. */
function spanOf({ from, to, now }: UptimeView): string {
  const [begin, end] = [toIso(from), toIso(to - 1)];
  if (from % DAY_MS !== 0) return `${exactTime(begin)} to now`;
  return `${longDay(begin)} to ${to === now ? "now" : longDay(end)}, in days of UTC`;
}

function OfPage({ uptime, isUntilToday }: { uptime: PageUptime; isUntilToday: boolean }) {
  const { page, components } = uptime;
  if (components.length === 0) return null;
  return (
    <>
      <UptimeNumbers uptime={uptime} />
      <UptimeCharts uptime={uptime} isUntilToday={isUntilToday} />
      <Table columns={COLUMNS} caption={`Uptime of ${page.name}`}>
        {components.flatMap(({ line, monitors }) => [
          <LineRow key={line.id} line={line} />,
          ...monitors.map((monitor) => (
            <LineRow key={`${line.id} ${monitor.id}`} line={monitor} isBelow />
          )),
        ])}
      </Table>
    </>
  );
}

/** Uptime of each page, with links to its components. */
function Pages({ view: { ofPages, selection } }: { view: UptimeView }) {
  return (
    <Table
      columns={COLUMNS.map((column, index) => (index === 0 ? { label: "Page" } : column))}
      caption="Uptime of pages"
    >
      {ofPages.map(({ page, components, figures }) => (
        <Row key={page.id}>
          <Cell>
            <a href={selectionPath(ANALYTICS_PATH, { ...selection, page })}>
              {labelAmong(selection.pages, page)}
            </a>
            <CellNote>{plural(components, "component")}</CellNote>
          </Cell>
          <Figures figures={figures} />
        </Row>
      ))}
    </Table>
  );
}

function LineRow({ line, isBelow = false }: { line: Line; isBelow?: boolean }) {
  const { kind, id, name } = line;
  const href = kind === "monitor" ? monitorPath(id) : componentPath(id);
  return (
    <Row>
      <Cell>
        {isBelow ? (
          <CellNote>
            Monitor <a href={href}>{name}</a>
          </CellNote>
        ) : (
          <a href={href}>{name}</a>
        )}
      </Cell>
      <Figures figures={line} isQuiet={isBelow} />
    </Row>
  );
}

/** Cells of the figures of a row. */
function Figures({ figures, isQuiet = false }: { figures: UptimeFigures; isQuiet?: boolean }) {
  return (
    <>
      <Cell label="Uptime" isNumeric>
        <span class={isQuiet ? "quiet-text" : "strong"}>{percent(figures.uptime, 3)}</span>
      </Cell>
      <Time label="Down" ms={figures.down_ms} />
      <Time label="Degraded" ms={figures.degraded_ms} />
      <Time label="Maintenance" ms={figures.maintenance_ms} />
      <Time label="No data" ms={figures.no_data_ms} />
    </>
  );
}

function Time({ label, ms }: { label: string; ms: number }) {
  return (
    <Cell label={label} isNumeric>
      {ms === 0 ? null : timeInWords(ms)}
    </Cell>
  );
}
