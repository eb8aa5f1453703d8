import { Checkbox, SelectField, TextArea, TextField } from "../../ui";
import type { Wording } from "../field-errors";
import { type ConfigField, formName, type Texts } from "./config-fields";

/** Inputs for the configuration of a monitor type. */
export function ConfigInputs(props: {
  fields: readonly ConfigField[];
  texts: Texts;
  wrong: Wording;
}) {
  const { fields, texts, wrong } = props;
  return (
    <>
      {fields.map((field) => (
        <ConfigInput key={field.name} field={field} texts={texts} wrong={wrong} />
      ))}
    </>
  );
}

function ConfigInput(props: { field: ConfigField; texts: Texts; wrong: Wording }) {
  const { field } = props;
  const name = formName(field.name);
  const value = props.texts[name] ?? "";
  const { label, hint, kind, options = [], isOptional } = field;
  const common = { label, name, hint, error: props.wrong.about(name) };
  switch (kind) {
    case "check":
      return <Checkbox {...common} isChecked={value === "yes"} />;
    case "choice":
      return <SelectField {...common} options={options} value={value} />;
    case "lines":
      return <TextArea {...common} value={value} rows={3} />;
    case "whole":
      return <TextField {...common} value={value} inputmode="numeric" autocomplete="off" isShort />;
    case "text":
      return (
        <TextField {...common} value={value} autocomplete="off" required={isOptional !== true} />
      );
  }
}
