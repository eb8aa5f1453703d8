import type { Maintenance } from "../../features/maintenance";
import type { Form } from "../../http";
import { DialogForm, ErrorSummary } from "../../ui";
import { type Complaints, wording } from "../field-errors";
import { MessageField } from "../message-field";
import { NOTIFY_LABEL, NotifyField } from "../notify-field";
import { multilineText } from "../multiline-text";
import { pathsOfMaintenance } from "./maintenance-paths";
import { type StepName, STEPS } from "./steps";
import type { UpdateValues } from "./update-form";

const LABELS = { body: "Message", notify: NOTIFY_LABEL };

/** Typed values of the step form. */
export type StepValues = Pick<UpdateValues, "body" | "isNotifying">;

export function readStep(form: Form): StepValues {
  return { body: multilineText(form, "body"), isNotifying: form.text("notify") === "yes" };
}

interface StepFormProps {
  maintenance: Maintenance;
  name: StepName;
  values: StepValues;
  complaints: Complaints;
  /** Identifies this rendering of the form, so that submitting it twice takes the step once. */
  formToken: string;
}

/** Asks before a maintenance is started, finished or cancelled, and for the message to publish. */
export function StepForm({ maintenance, name, values, complaints, formToken }: StepFormProps) {
  const step = STEPS[name];
  const wrong = wording(complaints, LABELS);
  const paths = pathsOfMaintenance(maintenance.id);
  return (
    <DialogForm
      title={step.title(maintenance.name)}
      action={paths.step(name)}
      hidden={{ form: formToken }}
      button={step.button}
      isDanger={step.isDanger}
      cancelHref={paths.home}
      cancel={step.keep}
    >
      <ErrorSummary errors={wrong.all} />
      <p>{step.text}</p>
      <MessageField label={LABELS.body} value={values.body} rows={3} wrong={wrong} />
      <NotifyField isChecked={values.isNotifying} error={wrong.about("notify")} />
    </DialogForm>
  );
}
