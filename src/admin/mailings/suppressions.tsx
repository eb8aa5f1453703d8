import type { MailHold } from "../../base/mail-address";
import type { CausedSuppression } from "../../features/mail/suppression-store";
import { toIso } from "../../base/time";
import { Actions, Form } from "../../ui/form";
import { Button } from "../../ui/buttons";
import { CheckboxList } from "../../ui/choices";
import { EmptyState, FormNotice } from "../../ui/blocks";
import { PageHead } from "../../ui/navigation";
import { RelativeTime } from "../../ui/times";
import { MAILINGS_PATH } from "../../ui/frame/paths";
import { REASON_CAUSES } from "../suppression-words";
import { suppressionsPath } from "./mailing-paths";

/** Name of the checkboxes, and of the button for all of them. */
export const MAIL_FIELD = "mail";
export const ALL_FIELD = "all";

interface SuppressionsProps {
  hold: MailHold;
  suppressions: readonly CausedSuppression[];
  error?: string | undefined;
  now: number;
}

/** Suppressions that the mails of a hold caused, with buttons to end some or all. */
export function HoldSuppressions({ hold, suppressions, error, now }: SuppressionsProps) {
  return (
    <>
      <PageHead
        title="Suppressed addresses"
        crumbs={[{ href: MAILINGS_PATH, label: "Mailings" }, { label: "Suppressed addresses" }]}
      >
        Addresses that get no mail since the failures for which mailings were held{" "}
        <RelativeTime at={toIso(hold.at)} now={now} />. End the suppressions if the relay was at
        fault; each can be ended once in 7 days.
      </PageHead>
      {suppressions.length === 0 ? (
        <EmptyState title="No suppressed addresses">
          No suppression of this hold is left: an admin ended it, or the person confirmed again.
        </EmptyState>
      ) : (
        <Form action={suppressionsPath(hold.at)} enter={{}}>
          {error === undefined ? null : <FormNotice>{error}</FormNotice>}
          <CheckboxList
            legend="Addresses"
            name={MAIL_FIELD}
            options={suppressions.map(({ mailId, recipient, reason, note }) => ({
              value: mailId ?? "",
              label: recipient ?? "Erased address",
              hint: [REASON_CAUSES[reason], note].filter(Boolean).join(" "),
              isChecked: false,
            }))}
          />
          <Actions>
            <Button kind="primary">End selected</Button>
            <Button name={ALL_FIELD} value="yes">
              End all
            </Button>
          </Actions>
        </Form>
      )}
    </>
  );
}
