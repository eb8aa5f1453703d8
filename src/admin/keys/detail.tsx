import type { KeyListing, KeyUsageSummary } from "../../features/keys/listing";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { Card, Facts, FormNotice, Notice } from "../../ui/blocks";
import { Cell, Row, Table } from "../../ui/list";
import { DetailCard, MoreMenu } from "../../ui/detail";
import { Icon } from "../../ui/icons";
import { RelativeTime } from "../../ui/times";
import { PageHead } from "../../ui/navigation";
import { Sparkline } from "../../ui/sparkline";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { keyPath, KEYS_PATH } from "../../ui/frame/paths";
import { KEY_EDIT_FORM } from "./forms";
import { Creator, type CreatorLinks, KeyEnd, LastUsed, ScopeChips, UsageSentence } from "./parts";

interface KeyDetailProps {
  listing: KeyListing;
  usage: KeyUsageSummary;
  edit: StateOf<typeof KEY_EDIT_FORM>;
  links: CreatorLinks;
  now: number;
}

const NEW_KEY_PATH = `${KEYS_PATH}/new`;

const VALUE_COLUMNS = [
  { label: "Value" },
  { label: "Created" },
  { label: "Last used" },
  { label: "Ends" },
];

/** One API key: scopes, usage, values and settings. */
export function KeyDetail({ listing, usage, edit, links, now }: KeyDetailProps) {
  const isLive = listing.state === "live";
  return (
    <>
      <PageHead
        title={listing.name}
        crumbs={[{ href: KEYS_PATH, label: "API Keys" }]}
        actions={isLive ? <KeyActions id={listing.id} /> : undefined}
      />
      <EndNotice listing={listing} now={now} />
      <Card>
        <Facts
          items={[
            { label: "Scopes", value: <ScopeChips scopes={listing.scopes} />, isWide: true },
            {
              label: isLive ? "Expires" : "Ended",
              value: <KeyEnd of={listing} now={now} />,
            },
            {
              label: "Created",
              value: (
                <>
                  <RelativeTime at={listing.created_at} now={now} /> by{" "}
                  <Creator of={listing} links={links} />
                </>
              ),
            },
            {
              label: "Last 24 hours",
              isWide: true,
              value: (
                <>
                  <UsageSentence usage={usage} />{" "}
                  <Sparkline
                    values={listing.requests_24h}
                    label="Requests in each of the last 24 hours"
                  />
                </>
              ),
            },
            { label: "Id", value: <code>{listing.id}</code>, isWide: true },
          ]}
        />
      </Card>
      <DetailCard title="Values" liveId="key-values" isTable>
        <Table columns={VALUE_COLUMNS} caption="Values of this key" isInCard>
          {listing.values.map((value) => (
            <ValueRow
              key={`${value.start} ${value.created_at}`}
              value={value}
              listing={listing}
              now={now}
            />
          ))}
        </Table>
      </DetailCard>
      {listing.old_value && isLive ? <EndOldValue listing={listing} now={now} /> : null}
      {isLive ? (
        <EditForm id={listing.id} state={edit} />
      ) : edit.notice === undefined ? null : (
        <FormNotice>{edit.notice}</FormNotice>
      )}
    </>
  );
}

function EditForm({ id, state }: { id: string; state: StateOf<typeof KEY_EDIT_FORM> }) {
  return (
    <DetailCard title="Name and limit" liveId="key-settings" isStill>
      <Form action={keyPath(id)} hidden={state.hidden}>
        <FormFields form={KEY_EDIT_FORM} state={state} />
        <Actions>
          <Button>Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

function KeyActions({ id }: { id: string }) {
  return (
    <>
      <ButtonLink href={`${keyPath(id)}/rotate`} dialog>
        <Icon name="refresh-cw" />
        Rotate
      </ButtonLink>
      <MoreMenu label="More actions">
        <ButtonLink href={`${keyPath(id)}/revoke`} kind="danger" dialog>
          Revoke
        </ButtonLink>
      </MoreMenu>
    </>
  );
}

function EndNotice({ listing, now }: { listing: KeyListing; now: number }) {
  if (listing.revoked_at) {
    return (
      <Notice tone="none" title="This key is revoked">
        Revoked <RelativeTime at={listing.revoked_at} now={now} />, which cannot be undone. If a
        program still needs access, <a href={NEW_KEY_PATH}>create a new key</a>.
      </Notice>
    );
  }
  if (listing.state === "expired") {
    return (
      <Notice tone="degraded" title="This key has expired">
        The key no longer works, and the expiration cannot be changed. If a program still needs
        access, <a href={NEW_KEY_PATH}>create a new key</a>.
      </Notice>
    );
  }
  return null;
}

interface ValueProps {
  value: KeyListing["values"][number];
  listing: KeyListing;
  now: number;
}

function ValueRow({ value, listing, now }: ValueProps) {
  return (
    <Row>
      <Cell>
        <code>{value.start}…</code>
      </Cell>
      <Cell label="Created">
        <RelativeTime at={value.created_at} now={now} />
      </Cell>
      <Cell label="Last used">
        <LastUsed of={value} now={now} />
      </Cell>
      <Cell label="Ends">
        <ValueEnd value={value} listing={listing} now={now} />
      </Cell>
    </Row>
  );
}

function ValueEnd({ value, listing, now }: ValueProps) {
  const end = value.ends_at;
  if (listing.state !== "live" || (end !== null && Date.parse(end) <= now)) {
    return <span class="quiet-text">Ended</span>;
  }
  return end === null ? <>With the key</> : <RelativeTime at={end} now={now} />;
}

function EndOldValue({ listing, now }: { listing: KeyListing; now: number }) {
  const old = listing.old_value;
  if (!old) return null;
  return (
    <Card title="Old value">
      <Form action={`${keyPath(listing.id)}/end-old-value`}>
        <p>
          <code>{old.start}…</code> ends <RelativeTime at={old.ends_at} now={now} />.{" "}
          {old.last_used_at ? (
            <>
              Last used <RelativeTime at={old.last_used_at} now={now} />, so a program may still
              need this value.
            </>
          ) : (
            "This value was never used, so you can end it safely."
          )}
        </p>
        <Actions>
          <Button>End old value now</Button>
        </Actions>
      </Form>
    </Card>
  );
}
