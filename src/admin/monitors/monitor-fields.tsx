import { ON_DOWN } from "../../domain/monitor-state";
import { Fold, RadioList, SelectField, STATUS_WORDS, TextField } from "../../ui";
import type { Wording } from "../field-errors";
import { ComponentChoice, type ComponentPart } from "./component-choice";
import { ConfigInputs } from "./config-inputs";
import { formName } from "./config-fields";
import { RequestInputs } from "./request-inputs";
import { TYPE_FORMS } from "./types";
import { labelsOf, type MonitorValues } from "./values";

const INCIDENTS = [
  { value: "never", label: "Do not open an incident", hint: "Only the component statuses change." },
  {
    value: "draft",
    label: "Write a draft",
    hint: "The draft stays private until someone publishes it.",
  },
  {
    value: "automatic",
    label: "Publish an incident",
    hint: "Published at once. Resolved when the monitor is up again, unless someone has posted an update.",
  },
];

/** Fields inside the fold, in order. */
const RARE = [
  "timeout_ms",
  "degraded_after_ms",
  "failure_threshold",
  "success_threshold",
  "retry_interval_seconds",
] as const;

const HINTS: Readonly<Record<(typeof RARE)[number], string>> = {
  timeout_ms: "Time allowed for a whole check.",
  degraded_after_ms: "Optional. Slower responses make the monitor degraded.",
  failure_threshold:
    "Consecutive failed checks before the monitor is down. The outage is dated from the first.",
  success_threshold: "Consecutive successful checks before the monitor is up.",
  retry_interval_seconds:
    "Interval until a threshold is reached. Empty means 10, or the check interval if that is shorter.",
};

/** Fields of a monitor except its type, shared by the create and edit forms. */
export function MonitorFields(props: {
  values: MonitorValues;
  parts: readonly ComponentPart[];
  wrong: Wording;
}) {
  const { values, parts, wrong } = props;
  const { type, texts } = values;
  const { fields, sendsRequests, isPush } = TYPE_FORMS[type];
  const labels = labelsOf(type);
  const rareFields = fields.filter(({ isRare }) => isRare);
  const rare = RARE.filter(
    (name) => !(isPush && (name === "timeout_ms" || name === "retry_interval_seconds")),
  );
  const folded = [...rareFields.map(({ name }) => formName(name)), ...rare];
  const number = (name: string, hint?: string) => (
    <TextField
      key={name}
      label={labels[name] ?? name}
      name={name}
      value={texts[name]}
      hint={hint}
      error={wrong.about(name)}
      inputmode="numeric"
      autocomplete="off"
      isShort
    />
  );
  return (
    <>
      <TextField
        label="Name"
        name="name"
        value={texts["name"]}
        hint="Name of the service, such as “Checkout API”. Incidents opened by the monitor use this name."
        error={wrong.about("name")}
        maxlength={255}
        autocomplete="off"
        required
      />
      <ConfigInputs fields={fields.filter(({ isRare }) => !isRare)} texts={texts} wrong={wrong} />
      {sendsRequests ? <RequestInputs values={values.request} wrong={wrong} /> : null}
      {number("interval_seconds", "5 to 86,400.")}
      <ComponentChoice
        legend={labels["component_ids"] ?? ""}
        parts={parts}
        chosen={values.components}
        error={wrong.about("component_ids")}
      />
      <SelectField
        label={labels["on_down"] ?? ""}
        name="on_down"
        options={ON_DOWN.map((value) => ({ value, label: STATUS_WORDS[value] }))}
        value={texts["on_down"]}
        error={wrong.about("on_down")}
      />
      <RadioList
        legend={labels["open_incident"] ?? ""}
        name="open_incident"
        hint="What happens on the components' pages when the monitor goes down."
        options={INCIDENTS}
        value={texts["open_incident"] ?? ""}
        error={wrong.about("open_incident")}
      />
      <Fold title="More" isOpen={folded.some((name) => wrong.about(name) !== undefined)}>
        {rare.map((name) => number(name, HINTS[name]))}
        <ConfigInputs fields={rareFields} texts={texts} wrong={wrong} />
      </Fold>
    </>
  );
}
