import { Fragment } from "preact";
import { PRODUCTS } from "../../base/import-report";
import type { OpenIncident } from "../../base/status";
import { SECOND_MS, toIso } from "../../base/time";
import { plural } from "../../base/text";
import { DetailCard } from "../../ui/detail";
import { Facts, STATUS_WORDS } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import type { MonitorView } from "./monitor-view";
import { Tags } from "./tags";
import { TYPE_FORMS } from "./types";
import { intervalInWords, latencyInWords, targetOf, timeInWords, typeInWords } from "./words";

const INCIDENTS: Readonly<Record<OpenIncident, string>> = {
  never: "Opens no incident",
  draft: "Writes a draft",
  automatic: "Publishes an incident",
};

/** Notes with their line breaks. */
function Notes({ text }: { text: string }) {
  return (
    <>
      {text.split("\n").map((line, index) => (
        <Fragment key={index}>
          {index === 0 ? null : <br />}
          {line}
        </Fragment>
      ))}
    </>
  );
}

/** Configuration of a monitor, without secrets. */
export function MonitorFacts({ view, now }: { view: MonitorView; now: number }) {
  const { row } = view.record;
  return (
    <DetailCard title="Configuration" liveId="monitor-configuration" isFlush>
      <Facts
        items={[
          { label: typeInWords(row), value: targetOf(row), isWide: true },
          ...(row.type === "unsupported" ? [] : checkFacts(view, now)),
          ...(row.group === null
            ? []
            : [{ label: "Group", value: <Tags group={row.group} tags={[]} />, isWide: true }]),
          ...(row.tags.length === 0
            ? []
            : [{ label: "Tags", value: <Tags group={null} tags={row.tags} />, isWide: true }]),
          ...(row.notes === null
            ? []
            : [{ label: "Notes", value: <Notes text={row.notes} />, isWide: true }]),
          ...(view.origin === undefined
            ? []
            : [
                {
                  label: "Imported from",
                  value: `${PRODUCTS[view.origin.kind]} (${view.origin.name})`,
                  isWide: true,
                },
              ]),
          { label: "Created", value: <RelativeTime at={toIso(row.createdAt)} now={now} /> },
          { label: "Reference", value: <code>{row.ref}</code> },
          { label: "Id", value: <code>{row.id}</code>, isWide: true },
        ]}
      />
    </DetailCard>
  );
}

/** Facts about the checks of a monitor and their effect. */
function checkFacts({ record: { row, state }, job }: MonitorView, now: number) {
  const { isPush } = TYPE_FORMS[row.type];
  return [
    { label: isPush ? "Expected" : "Checked", value: intervalInWords(row) },
    ...(isPush
      ? [
          {
            label: "Last heartbeat",
            value:
              state.heartbeatAt === null ? (
                <span class="quiet-text">None yet</span>
              ) : (
                <RelativeTime at={toIso(state.heartbeatAt)} now={now} />
              ),
          },
          ...(job?.dueAt === undefined
            ? []
            : [
                {
                  label: "Next call due",
                  value: <RelativeTime at={toIso(job.dueAt)} now={now} />,
                },
              ]),
        ]
      : [
          { label: "Timeout", value: latencyInWords(row.timeoutMs) },
          {
            label: "Checked again after",
            value: timeInWords(row.retryIntervalSeconds * SECOND_MS),
          },
        ]),
    { label: "Down after", value: `${plural(row.failureThreshold, "failure")} in a row` },
    {
      label: "Up after",
      value:
        row.successThreshold === 1 ? "1 success" : `${row.successThreshold} successes in a row`,
    },
    ...(row.degradedAfterMs === null
      ? []
      : [{ label: "Degraded above", value: latencyInWords(row.degradedAfterMs) }]),
    { label: "Incidents", value: INCIDENTS[row.openIncident] },
    { label: "Component status while down", value: STATUS_WORDS[row.onDown] },
    ...(row.reminderSeconds === 0
      ? []
      : [
          {
            label: "Reminder while down",
            value: `every ${timeInWords(row.reminderSeconds * SECOND_MS)}`,
          },
        ]),
    ...(row.inverted ? [{ label: "Result", value: "Inverted" }] : []),
  ];
}
