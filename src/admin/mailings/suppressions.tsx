import type { MailHold, SuppressionReason } from "../../domain/mail";
import type { CausedSuppression } from "../../features/mail";
import { toIso } from "../../kernel/time";
import {
  Actions,
  Button,
  CheckboxList,
  EmptyState,
  Form,
  FormNotice,
  PageHead,
  RelativeTime,
} from "../../ui";
import { MAILINGS_PATH } from "../paths";
import { suppressionsPath } from "./mailing-paths";

/** Name of the checkboxes, and of the button for all of them. */
export const MAIL_FIELD = "mail";
export const ALL_FIELD = "all";

const REASON_WORDS: Partial<Record<SuppressionReason, string>> = {
  bounced: "The address does not exist",
  soft: "Several mails failed",
};

interface SuppressionsProps {
  hold: MailHold;
  suppressions: readonly CausedSuppression[];
  error?: string | undefined;
  now: number;
}

/** Suppressions that the mails of a hold caused, for undoing some or all. */
export function HoldSuppressions({ hold, suppressions, error, now }: SuppressionsProps) {
  return (
    <>
      <PageHead
        title="Suppressed addresses"
        crumbs={[{ href: MAILINGS_PATH, label: "Mailings" }, { label: "Suppressed addresses" }]}
      >
        Addresses that get no more mail because of the failures for which mailings were held{" "}
        <RelativeTime at={toIso(hold.at)} now={now} />. Each can be undone once in 7 days.
      </PageHead>
      {suppressions.length === 0 ? (
        <EmptyState title="No suppressed addresses">
          None is left of this hold: they were undone, or the people confirmed again.
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
              hint: [REASON_WORDS[reason] ?? reason, note].filter(Boolean).join(" · "),
              isChecked: false,
            }))}
          />
          <Actions>
            <Button kind="primary">Undo selected</Button>
            <Button name={ALL_FIELD} value="yes">
              Undo all
            </Button>
          </Actions>
        </Form>
      )}
    </>
  );
}
