import { ON_DOWN } from "../../kernel/monitor-state";
import { Fold, RadioList, SelectField, STATUS_WORDS, TextField } from "../../ui";
import type { Wording } from "../field-errors";
import { ComponentChoice, type ComponentPart } from "./component-choice";
import { ConfigInputs } from "./config-inputs";
import { formName } from "./config-fields";
import { RequestInputs } from "./request-inputs";
import { TYPE_FORMS } from "./types";
import { labelsOf, type MonitorValues } from "./values";

const INCIDENTS = [
  { value: "never", label: "Open none", hint: "It marks its components, and that is all." },
  {
    value: "draft",
    label: "Write a draft",
    hint: "Somebody publishes it, or not. Nobody is told before.",
  },
  {
    value: "automatic",
    label: "Open one",
    hint: "Published at once. It is resolved when the monitor is up again, unless somebody has written to it.",
  },
];

/** Below the fold, in their order. */
const RARE = [
  "timeout_ms",
  "degraded_after_ms",
  "failure_threshold",
  "success_threshold",
  "retry_interval_seconds",
] as const;

const HINTS: Readonly<Record<(typeof RARE)[number], string>> = {
  timeout_ms: "How long a check may take, from its first step to its last.",
  degraded_after_ms: "Optional. Answers that take longer mark it as degraded.",
  failure_threshold: "So many in a row. The outage is dated from the first of them.",
  success_threshold: "So many in a row.",
  retry_interval_seconds:
    "While it is not decided yet. If left empty 10, or the interval where that is shorter.",
};

/** All that is asked of a monitor but its type: the same for a new one and for one that is there. */
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
        hint="What is watched, such as “Checkout API”. Incidents that it opens are called by it."
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
        hint="What happens on the pages of its components when it goes down."
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
