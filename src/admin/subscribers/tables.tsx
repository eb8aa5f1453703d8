import { EVENT_LABELS } from "../../public/subscription-form";
import { plural } from "../../base/text";
import { toIso } from "../../base/time";
import { Cell, CellNote, Row, RowLink, Table } from "../../ui/list";
import { RelativeTime } from "../../ui/times";
import { subscriberPath } from "../../ui/frame/paths";
import type { SubscriberListing } from "./read";
import { SOURCE_WORDS, SubscriberState } from "./words";

const COLUMNS = [
  { label: "Address" },
  { label: "State" },
  { label: "Messages about" },
  { label: "Since" },
];

/** Subscribers of a list. */
export function SubscriberTable({ list, now }: { list: SubscriberListing; now: number }) {
  return (
    <Table columns={COLUMNS} caption="Subscribers" isInCard>
      {list.rows.map((row) => (
        <Row key={row.id} isOver={row.status === "unsubscribed"}>
          <Cell>
            <RowLink href={subscriberPath(row.id)}>
              <Address address={row.address ?? "Address removed"} />
            </RowLink>
          </Cell>
          <Cell label="State">
            <SubscriberState {...row} />
          </Cell>
          <Cell label="Messages about">
            {aboutText(row.scope, row.choices)}
            <CellNote>{row.events.map((event) => EVENT_WORDS[event]).join(", ")}</CellNote>
          </Cell>
          <Cell label="Since">
            <RelativeTime at={toIso(row.unsubscribedAt ?? row.confirmedAt)} now={now} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

const SIGN_UP_COLUMNS = [
  { label: "Address" },
  { label: "Messages about" },
  { label: "Origin" },
  { label: "Asked" },
];

/** Sign-ups that were not confirmed yet. */
export function SignUpTable({ list, now }: { list: SubscriberListing; now: number }) {
  return (
    <Table columns={SIGN_UP_COLUMNS} caption="Unconfirmed sign-ups" isInCard>
      {list.signUps.map(({ id, address, choices, source, requestedAt, expiresAt }) => (
        <Row key={id}>
          <Cell>
            <Address address={address} />
          </Cell>
          <Cell label="Messages about">
            {aboutText(choices.scope, choices.targets.length)}
            <CellNote>{choices.events.map((event) => EVENT_WORDS[event]).join(", ")}</CellNote>
          </Cell>
          <Cell label="Origin">
            {source === "form" ? "Form of the page" : SOURCE_WORDS[source]}
          </Cell>
          <Cell label="Asked">
            <RelativeTime at={toIso(requestedAt)} now={now} />
            <CellNote>
              expires <RelativeTime at={toIso(expiresAt)} now={now} />
            </CellNote>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

const EVENT_WORDS = { ...EVENT_LABELS, incidents: "Incidents", status: "Status changes" };

function Address({ address }: { address: string }) {
  return <span class="mail-address">{address}</span>;
}

/** Returns the number of chosen components and groups. */
function aboutText(scope: "page" | "selection", choices: number): string {
  if (scope === "page") return "Everything";
  return choices === 0 ? "Nothing: components deleted" : plural(choices, "selected component");
}
