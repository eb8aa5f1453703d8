import type { KeyListing, KeyUsageSummary } from "../../features/keys";
import { Actions, Button, ButtonLink, ChoiceField, DialogBody, Form, Moment } from "../../ui";
import { UsageSentence } from "./detail";
import { keyPath } from "./paths";

const OVERLAP_CHOICES = [
  { value: "now", label: "Now" },
  { value: "1h", label: "In 1 hour" },
  { value: "24h", label: "In 24 hours" },
  { value: "7d", label: "In 7 days" },
];

/** Asks how long the old value is to go on working. */
export function RotateKey(props: {
  listing: KeyListing;
  overlap: string;
  complaint?: string;
  formToken: string;
  now: number;
}) {
  const { listing, overlap, complaint, formToken, now } = props;
  return (
    <DialogBody title={`Rotate “${listing.name}”`}>
      <Form action={`${keyPath(listing.id)}/rotate`} hidden={{ form: formToken }}>
        <p>
          The key gets a new value and keeps its scopes, limit and expiration. The present value{" "}
          <code>{listing.start}…</code>
          {listing.last_used_at ? (
            <>
              , last used <Moment at={listing.last_used_at} now={now} />,
            </>
          ) : (
            ", never used,"
          )}{" "}
          goes on working for as long as you choose.
        </p>
        <ChoiceField
          legend="The old value ends"
          name="overlap"
          options={OVERLAP_CHOICES}
          value={overlap}
          error={complaint}
        />
        <Actions>
          <Button kind="primary">Rotate key</Button>
          <ButtonLink href={keyPath(listing.id)} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}

/** Names the key and shows who would miss it. */
export function RevokeKey(props: { listing: KeyListing; usage: KeyUsageSummary; now: number }) {
  const { listing, usage, now } = props;
  return (
    <DialogBody title={`Revoke “${listing.name}”`}>
      <Form action={`${keyPath(listing.id)}/revoke`}>
        <p>
          From the next request on, whoever uses <code>{listing.start}…</code> is refused. Revoking
          is final; the key stays listed.
        </p>
        <p>
          Last 24 hours: <UsageSentence usage={usage} /> <LastUse listing={listing} now={now} />
        </p>
        <Actions>
          <Button kind="danger">Revoke key</Button>
          <ButtonLink href={keyPath(listing.id)} closesDialog>
            Cancel
          </ButtonLink>
        </Actions>
      </Form>
    </DialogBody>
  );
}

/** The last use of any of the key's values: revoking ends all of them. */
function LastUse({ listing, now }: { listing: KeyListing; now: number }) {
  const used = listing.values
    .filter((value) => value.last_used_at !== null)
    .sort((a, b) => ((a.last_used_at ?? "") < (b.last_used_at ?? "") ? 1 : -1));
  const [last] = used;
  if (!last?.last_used_at) return <>It was never used.</>;
  return (
    <>
      Last used <Moment at={last.last_used_at} now={now} /> from {last.last_used_ip}.
    </>
  );
}
