import type { requestsAnswer } from "../../features/analytics/requests";
import { Cell, Row, RowLink, Table } from "../../ui/list";
import { EmptyState, Notice } from "../../ui/blocks";
import { RelativeTime } from "../../ui/times";
import { keyPath } from "../../ui/frame/paths";
import { AnalyticsFrame } from "./frame";
import { REQUEST_FIGURES_PATH, type Selection } from "./selection";

const REQUEST_COLUMNS = [
  { label: "Key" },
  { label: "Requests", isNumeric: true },
  { label: "Succeeded", isNumeric: true },
  { label: "Failed (4xx)", isNumeric: true },
  { label: "Rate-limited", isNumeric: true },
  { label: "Last used" },
];

interface RequestFiguresProps {
  selection: Selection;
  /** Figures by key; undefined if there are too many keys to show. */
  answer: ReturnType<typeof requestsAnswer> | undefined;
  /** True if the user may open API keys. */
  canOpenKeys: boolean;
  now: number;
}

/** `/admin/analytics/requests`: responses to the requests of each API key. */
export function RequestFigures({ selection, answer, canOpenKeys, now }: RequestFiguresProps) {
  const data = answer?.data.toSorted((a, b) => b.total - a.total) ?? [];
  return (
    <AnalyticsFrame
      path={REQUEST_FIGURES_PATH}
      selection={selection}
      hasSpan
      methods={answer ? [{ of: "requests", method: answer.method }] : []}
    >
      {answer ? null : (
        <Notice tone="maint" title="There are too many keys to show at once">
          The API returns the requests of a single key.
        </Notice>
      )}
      {answer && data.length === 0 ? (
        <EmptyState title="No API keys yet">
          The requests of each API key and their responses appear here.
        </EmptyState>
      ) : null}
      {answer && data.length > 0 ? (
        <Table columns={REQUEST_COLUMNS} caption="Requests by key">
          {data.map((line) => (
            <Row key={line.id}>
              <Cell>
                {canOpenKeys ? (
                  <RowLink href={keyPath(line.id)}>{line.name}</RowLink>
                ) : (
                  <span class="strong">{line.name}</span>
                )}
              </Cell>
              <RequestCount label="Requests" of={line.total} />
              <RequestCount label="Succeeded" of={line.ok} />
              <RequestCount label="Failed (4xx)" of={line.client_error} />
              <RequestCount label="Rate-limited" of={line.limited} />
              <Cell label="Last used">
                {line.last_used_at === null ? (
                  <span class="quiet-text">Never</span>
                ) : (
                  <RelativeTime at={line.last_used_at} now={now} />
                )}
              </Cell>
            </Row>
          ))}
        </Table>
      ) : null}
    </AnalyticsFrame>
  );
}

function RequestCount({ label, of: count }: { label: string; of: number }) {
  return (
    <Cell label={label} isNumeric>
      {count === 0 ? null : count.toLocaleString("en")}
    </Cell>
  );
}
