import type { ImportHistory, ImportReport } from "../../base/import-report";
import { plural } from "../../base/text";
import { DetailCard } from "../../ui/detail";
import { Facts } from "../../ui/blocks";
import { shortDay } from "../../ui/times";

/** Instructions of a plan or a report, and parts of the source that were not read. */
export function Instructions({ report }: { report: ImportReport }) {
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
export function HistoryCard({ history, isPlan }: HistoryCardProps) {
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
