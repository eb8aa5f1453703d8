import type { KeyListing, KeyUsageSummary } from "../../features/keys/listing";
import { DialogForm } from "../../ui/form";
import { RelativeTime } from "../../ui/times";
import type { StateOf } from "../../ui/forms/form";
import { FormInputs } from "../../ui/forms/fields";
import { keyPath } from "../../ui/frame/paths";
import { ROTATE_FORM } from "./forms";
import { UsageSentence } from "./parts";

/** Asks before a key is rotated, and for the overlap in which the old value works. */
export function RotateKey(props: {
  title: string;
  listing: KeyListing;
  state: StateOf<typeof ROTATE_FORM>;
  now: number;
}) {
  const { title, listing, state, now } = props;
  return (
    <DialogForm
      title={title}
      action={`${keyPath(listing.id)}/rotate`}
      hidden={state.hidden}
      button="Rotate key"
      cancelHref={keyPath(listing.id)}
    >
      <p>
        The key gets a new value and keeps its scopes, limit and expiration. The current value{" "}
        <code>{listing.start}…</code>
        {listing.last_used_at ? (
          <>
            , last used <RelativeTime at={listing.last_used_at} now={now} />,
          </>
        ) : (
          ", never used,"
        )}{" "}
        keeps working until the time that you select below.
      </p>
      <FormInputs form={ROTATE_FORM} state={state} />
    </DialogForm>
  );
}

/** Asks before a key is revoked, showing its recent use. */
export function RevokeKey(props: {
  title: string;
  listing: KeyListing;
  usage: KeyUsageSummary;
  now: number;
}) {
  const { title, listing, usage, now } = props;
  return (
    <DialogForm
      title={title}
      action={`${keyPath(listing.id)}/revoke`}
      button="Revoke key"
      isDanger
      cancelHref={keyPath(listing.id)}
    >
      <p>
        Every value of this key stops working at once. This cannot be undone. The key stays in the
        list.
      </p>
      <p>
        Last 24 hours: <UsageSentence usage={usage} /> <LastUse listing={listing} now={now} />
      </p>
    </DialogForm>
  );
}

/** Last use of any value of the key, since revoking ends all of them. */
function LastUse({ listing, now }: { listing: KeyListing; now: number }) {
  const used = listing.values
    .filter((value) => value.last_used_at !== null)
    .sort((a, b) => ((a.last_used_at ?? "") < (b.last_used_at ?? "") ? 1 : -1));
  const [last] = used;
  if (!last?.last_used_at) return <>The key was never used.</>;
  return (
    <>
      Last used <RelativeTime at={last.last_used_at} now={now} />
      {last.last_used_ip === null ? "" : ` from ${last.last_used_ip}`}.
    </>
  );
}
