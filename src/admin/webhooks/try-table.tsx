import type { TryRow } from "../../features/webhooks";
import { toIso } from "../../kernel/time";
import { Cell, RelativeTime, Row, RowLink, Table } from "../../ui";
import { describeFailure } from "./health";
import { pathsOfWebhook } from "./webhook-paths";

const COLUMNS = [
  { label: "Try" },
  { label: "When" },
  { label: "Answer" },
  { label: "Took", isNumeric: true },
];

interface TryTableProps {
  /** Attempts, oldest first. */
  tries: readonly TryRow[];
  shown: TryRow | undefined;
  webhookId: string;
  now: number;
}

/** Attempts of a delivery, newest first, each linked to its response. */
export function TryTable({ tries, shown, webhookId, now }: TryTableProps) {
  const { delivery } = pathsOfWebhook(webhookId);
  return (
    <Table columns={COLUMNS} caption="Tries">
      {tries.toReversed().map((one) => (
        <Row key={one.number}>
          <Cell label="Try">
            {one.number === shown?.number ? (
              `${one.number}, shown above`
            ) : (
              <RowLink href={delivery(one.deliveryId, one.number)}>{one.number}</RowLink>
            )}
          </Cell>
          <Cell label="When">
            <RelativeTime at={toIso(one.at)} now={now} />
          </Cell>
          <Cell label="Answer">{describeFailure(one)}</Cell>
          <Cell label="Took" isNumeric>
            {`${one.latencyMs.toLocaleString("en")} ms`}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
