import { type Maintenance, isAllowedTransition } from "../../features/maintenance";
import type { Form as SentForm } from "../../http";
import { MAINTENANCE_STATUSES } from "../../domain/incident-status";
import { MAINTENANCE_WORDS } from "../../public/words";
import {
  Actions,
  Button,
  Card,
  ChoiceField,
  Fold,
  Form,
  ErrorSummary,
  DateTimeField,
} from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { MessageField } from "../message-field";
import { NOTIFY_LABEL, NotifyField } from "../notify-field";
import { multilineText } from "../multiline-text";
import { pathsOfMaintenance } from "./maintenance-paths";

/** Typed values of the form for the next update. */
export interface UpdateValues {
  /** New status; empty to keep the current one, even if it changed meanwhile. */
  status: string;
  body: string;
  /** Field text in UTC; empty for now. */
  displayAt: string;
  isNotifying: boolean;
}

export const EMPTY_UPDATE: UpdateValues = {
  status: "",
  body: "",
  displayAt: "",
  isNotifying: true,
};

const LABELS = {
  body: "Message",
  status: "Status",
  display_at: "Took effect at (UTC)",
  notify: NOTIFY_LABEL,
};

interface UpdateFormProps {
  maintenance: Maintenance;
  /** Time zone of the page. */
  timeZone: string;
  values: UpdateValues;
  complaints: Complaints;
  /** Identifies this rendering of the form, so that submitting it twice creates one update. */
  formToken: string;
}

/** Form for the next update. */
export function UpdateForm(props: UpdateFormProps) {
  const { maintenance, timeZone, values, complaints, formToken } = props;
  const wrong = wording(complaints, LABELS);
  const paths = pathsOfMaintenance(maintenance.id);
  return (
    <Card title="Next update">
      <Form action={paths.home} hidden={{ form: formToken }}>
        <ErrorSummary errors={wrong.all} />
        <MessageField
          label={LABELS.body}
          value={values.body}
          hint="What people should know now. Markdown."
          wrong={wrong}
        />
        <ChoiceField
          legend={LABELS.status}
          name="status"
          options={[
            { value: "", label: MAINTENANCE_WORDS[maintenance.status] },
            // Cancelling asks once more.
            ...MAINTENANCE_STATUSES.filter(
              (status) => status !== "cancelled" && isAllowedTransition(maintenance.status, status),
            ).map((status) => ({ value: status, label: MAINTENANCE_WORDS[status] })),
          ]}
          value={values.status}
          error={wrong.about("status")}
        />
        <Fold
          title="Took effect earlier"
          isOpen={values.displayAt !== "" || "display_at" in complaints}
        >
          <DateTimeField
            label={LABELS.display_at}
            name="display_at"
            value={values.displayAt}
            hint="Empty means now. Not before the previous update."
            timeZone={timeZone}
            error={wrong.about("display_at")}
          />
        </Fold>
        <NotifyField isChecked={values.isNotifying} error={wrong.about("notify")} />
        <Actions>
          <Button kind="primary">Publish update</Button>
          <Button previewAction={paths.previewUpdate}>Preview</Button>
        </Actions>
      </Form>
    </Card>
  );
}

/** Reads the typed values. */
export function readUpdate(form: SentForm): UpdateValues {
  return {
    status: form.text("status"),
    body: multilineText(form, "body"),
    displayAt: form.text("display_at"),
    isNotifying: form.text("notify") === "yes",
  };
}
