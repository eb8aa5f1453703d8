import type { ComponentChange } from "../../features/components";
import { Cell, RelativeTime, Row, Section, STATUS_WORDS, Table } from "../../ui";

const COLUMNS = [{ label: "When" }, { label: "Change" }, { label: "By" }, { label: "Reason" }];

/** Recorded status changes of a component. */
export function History({ changes, now }: { changes: readonly ComponentChange[]; now: number }) {
  return (
    <Section title="Latest changes">
      {changes.length === 0 ? (
        <p class="muted">The status has never changed.</p>
      ) : (
        <Table columns={COLUMNS} caption="Latest status changes">
          {changes.map((change) => (
            <Row key={`${change.at} ${change.from} ${change.to}`}>
              <Cell label="When">
                <RelativeTime at={change.at} now={now} />
              </Cell>
              <Cell label="Change">
                {STATUS_WORDS[change.from]} → {STATUS_WORDS[change.to]}
              </Cell>
              <Cell label="By">{change.actor.label}</Cell>
              <Cell label="Reason">{change.reason}</Cell>
            </Row>
          ))}
        </Table>
      )}
    </Section>
  );
}
