import { METHODS } from "../../features/analytics";
import { percent } from "../../kernel/numbers";
import { plural } from "../../kernel/text";
import {
  ButtonLink,
  Cell,
  CellNote,
  EmptyState,
  exactTime,
  Notice,
  Row,
  Section,
  Table,
} from "../../ui";
import { timeInWords } from "../monitors/words";
import { ANALYTICS_PATH, componentPath, monitorPath } from "../paths";
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
  const { selection, pages, uptimes, others, isTruncated } = view;
  const isEmpty =
    uptimes?.every(({ components }) => components.length === 0) && others.length === 0;
  return (
    <AnalyticsFrame
      path={ANALYTICS_PATH}
      selection={selection}
      pages={pages}
      hasSpan
      methods={[
        { of: "components", method: METHODS.uptimeOfComponents },
        { of: "monitors", method: METHODS.uptimeOfMonitors },
      ]}
      actions={
        isEmpty ? undefined : (
          <ButtonLink href={selectionPath(UPTIME_CSV_PATH, selection)}>Download CSV</ButtonLink>
        )
      }
    >
      <p class="muted">
        {exactTime(view.from)} to {exactTime(view.to)}
      </p>
      {uptimes === undefined ? (
        <Notice tone="maint" title="There are too many components to show at once">
          Select a page. The API returns the uptime of a single component.
        </Notice>
      ) : null}
      {isTruncated ? (
        <Notice tone="maint" title={`Only ${plural(MONITORS_MAX, "monitor")} are shown`}>
          Select a page. The API returns the uptime of a single monitor.
        </Notice>
      ) : null}
      {isEmpty ? (
        <EmptyState title="No components or monitors yet">
          Uptime appears here once there are components or monitors.
        </EmptyState>
      ) : null}
      {uptimes?.map((uptime) => (
        <OfPage key={uptime.page.id} uptime={uptime} />
      ))}
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

function OfPage({ uptime }: { uptime: PageUptime }) {
  const { page, components } = uptime;
  if (components.length === 0) return null;
  return (
    <Section title={page.name}>
      <UptimeNumbers uptime={uptime} />
      <UptimeCharts uptime={uptime} />
      <Table columns={COLUMNS} caption={`Uptime of ${page.name}`}>
        {components.flatMap(({ line, monitors }) => [
          <LineRow key={line.id} line={line} />,
          ...monitors.map((monitor) => (
            <LineRow key={`${line.id} ${monitor.id}`} line={monitor} isBelow />
          )),
        ])}
      </Table>
    </Section>
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
      <Cell label="Uptime" isNumeric>
        <span class={isBelow ? "quiet-text" : "strong"}>{percent(line.uptime, 3)}</span>
      </Cell>
      <Time label="Down" ms={line.down_ms} />
      <Time label="Degraded" ms={line.degraded_ms} />
      <Time label="Maintenance" ms={line.maintenance_ms} />
      <Time label="No data" ms={line.no_data_ms} />
    </Row>
  );
}

function Time({ label, ms }: { label: string; ms: number }) {
  return (
    <Cell label={label} isNumeric>
      {ms === 0 ? null : timeInWords(ms)}
    </Cell>
  );
}
