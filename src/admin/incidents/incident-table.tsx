import { IMPACT_TONES } from "../../domain/tone";
import type { IncidentRecord } from "../../features/incidents/records";
import { plural } from "../../kernel/text";
import { HOUR_MS, toIso } from "../../kernel/time";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting } from "../../public/words";
import { Chip, Shape } from "../../ui/labels";
import { DayTime, RelativeTime } from "../../ui/relative-time";
import { DenseRow, DenseTable, FigureCell, NameCell, TextCell } from "../../ui/dense-table";
import { incidentPath } from "../paths";
import { EntryNote } from "../timeline/list-frame";

const COLUMNS = [
  { label: "Incident" },
  { label: "Impact", isSecondary: true },
  { label: "Status" },
  { label: "Duration", isNumeric: true },
  { label: "Started", isNumeric: true, isSecondary: true },
];

/** Time without an update after which an open incident is highlighted. */
const LONG_SILENCE_MS = HOUR_MS;

interface IncidentTableProps {
  records: readonly IncidentRecord[];
  /** Numbers of monitors by incident id. */
  monitorCounts: ReadonlyMap<string, number>;
  /** Page names by id, shown if the incidents belong to several pages. */
  pageNames?: ReadonlyMap<string, string> | undefined;
  now: number;
}

/** Table of incidents, each linked to its screen. */
export function IncidentTable(props: IncidentTableProps) {
  const { records, monitorCounts, pageNames, now } = props;
  return (
    <DenseTable columns={COLUMNS} caption="Incidents, open ones first" liveId="incident-rows">
      {records.map((record) => (
        <IncidentTableRow
          key={record.row.id}
          record={record}
          monitorCount={monitorCounts.get(record.row.id) ?? 0}
          pageName={pageNames?.get(record.row.pageId)}
          now={now}
        />
      ))}
    </DenseTable>
  );
}

interface RowProps {
  record: IncidentRecord;
  monitorCount: number;
  pageName?: string | undefined;
  now: number;
}

function IncidentTableRow({ record, monitorCount, pageName, now }: RowProps) {
  const { id, name, draft, impact, startedAt, resolvedAt } = record.row;
  const isOpen = resolvedAt === null;
  const duration = lasting(toIso(startedAt), toIso(resolvedAt ?? now));
  const word = draft ? "Draft" : IMPACT_WORDS[impact];
  return (
    <DenseRow>
      <NameCell
        shape={<Shape tone={draft ? "none" : IMPACT_TONES[impact]} />}
        href={incidentPath(id)}
        name={name}
        state={<span class="visually-hidden">, {word}</span>}
        note={<Notes {...{ record, monitorCount, pageName }} />}
      />
      <TextCell isSecondary>
        {draft ? <Chip>{word}</Chip> : <Chip tone={IMPACT_TONES[impact]}>{word}</Chip>}
      </TextCell>
      <TextCell isMiddle>
        <Phase record={record} now={now} />
      </TextCell>
      <FigureCell>
        {isOpen && !draft ? (
          <>
            <b>{duration}</b>, open
          </>
        ) : (
          duration
        )}
      </FigureCell>
      <FigureCell isSecondary>
        <span class="quiet-text">
          <DayTime at={toIso(startedAt)} now={now} />
        </span>
      </FigureCell>
    </DenseRow>
  );
}

/** Status of an incident; while it is open, with the time of its last update. */
function Phase({ record, now }: Pick<RowProps, "record" | "now">) {
  const { row, updates } = record;
  const [newest] = updates;
  if (row.draft) return <span class="quiet-text">Draft</span>;
  if (row.status === "resolved" || !newest) return <>{INCIDENT_WORDS[row.status]}</>;
  return (
    <>
      <b>{INCIDENT_WORDS[row.status]}</b>{" "}
      <span class="quiet-text">
        <RelativeTime
          at={toIso(newest.displayAt)}
          now={now}
          {...(now - newest.displayAt >= LONG_SILENCE_MS ? { tone: "degraded" as const } : {})}
        />
      </span>
    </>
  );
}

/** Page, components and origin of an incident. */
function Notes({ record, monitorCount, pageName }: Omit<RowProps, "now">) {
  const { row } = record;
  const ends = [
    monitorCount > 1 ? plural(monitorCount, "monitor") : "",
    row.draft && row.source === "monitor" ? "opened by a monitor, not published" : "",
    row.postmortemPublishedAt === null ? "" : "post-mortem",
  ];
  return (
    <>
      <EntryNote pageName={pageName} record={record} />
      {ends.filter(Boolean).map((text) => ` · ${text}`)}
    </>
  );
}
