import { IMPACT_TONES } from "../../domain/tone";
import type { IncidentRecord } from "../../features/incidents";
import { HOUR_MS, toIso } from "../../kernel/time";
import { IMPACT_WORDS, INCIDENT_WORDS, lasting } from "../../public/words";
import { moreThan } from "../../public/text";
import {
  Cell,
  CellNote,
  Chip,
  RelativeTime,
  OneLine,
  Row,
  RowLink,
  State,
  Table,
  WithChip,
} from "../../ui";
import { incidentPath } from "../paths";

const COLUMNS = [
  { label: "Incident" },
  { label: "Status" },
  { label: "Started" },
  { label: "Last update" },
];

/** Components listed by name; further ones are counted. */
const NAMES_SHOWN = 3;
/** Time without an update after which an open incident is highlighted. */
const LONG_SILENCE_MS = HOUR_MS;

interface IncidentTableProps {
  caption: string;
  records: readonly IncidentRecord[];
  /** Page names by id, shown if the incidents belong to several pages. */
  pageNames?: ReadonlyMap<string, string> | undefined;
  now: number;
}

/** Table of incidents, each linked to its screen. */
export function IncidentTable({ caption, records, pageNames, now }: IncidentTableProps) {
  return (
    <Table columns={COLUMNS} caption={caption}>
      {records.map((record) => (
        <IncidentTableRow
          key={record.row.id}
          record={record}
          pageName={pageNames?.get(record.row.pageId)}
          now={now}
        />
      ))}
    </Table>
  );
}

interface RowProps {
  record: IncidentRecord;
  pageName: string | undefined;
  now: number;
}

function IncidentTableRow({ record, pageName, now }: RowProps) {
  const { row, updates } = record;
  const [newest] = updates;
  const link = <RowLink href={incidentPath(row.id)}>{row.name}</RowLink>;
  const notes = [pageName, affected(record)].filter(Boolean);
  return (
    <Row>
      <Cell>
        {row.draft ? <WithChip chip={<Chip tone="degraded">Draft</Chip>}>{link}</WithChip> : link}
        {notes.length > 0 ? <CellNote>{notes.join(" · ")}</CellNote> : null}
      </Cell>
      <Cell label="Status">
        <OneLine>{INCIDENT_WORDS[row.status]}</OneLine>
        <CellNote>
          <ImpactLabel impact={row.impact} isOver={row.status === "resolved"} />
        </CellNote>
      </Cell>
      <Cell label="Started">
        <RelativeTime at={toIso(row.startedAt)} now={now} />
        {row.resolvedAt === null ? null : (
          <CellNote>for {lasting(toIso(row.startedAt), toIso(row.resolvedAt))}</CellNote>
        )}
      </Cell>
      <Cell label="Last update">
        {newest ? (
          <RelativeTime
            at={toIso(newest.displayAt)}
            now={now}
            {...(isQuietTooLong(record, now) ? { tone: "degraded" as const } : {})}
          />
        ) : null}
      </Cell>
    </Row>
  );
}

/** Returns true if an open, published incident has had no update for an hour. */
function isQuietTooLong({ row, updates: [newest] }: IncidentRecord, now: number): boolean {
  if (row.draft || row.status === "resolved" || !newest) return false;
  return now - newest.displayAt >= LONG_SILENCE_MS;
}

/**
 * Impact of an incident, as shape, word and colour while it is open, and as plain text afterwards.
 */
function ImpactLabel(props: { impact: IncidentRecord["row"]["impact"]; isOver: boolean }) {
  const { impact, isOver } = props;
  const tone = IMPACT_TONES[impact];
  if (isOver) return <OneLine>{IMPACT_WORDS[impact]}</OneLine>;
  return <State tone={tone}>{IMPACT_WORDS[impact]}</State>;
}

function affected({ components, isTruncated }: IncidentRecord): string {
  const names = components.map(({ name }) => name);
  return names.slice(0, NAMES_SHOWN).join(", ") + moreThan(names.length, NAMES_SHOWN, isTruncated);
}
