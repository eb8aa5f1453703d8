import { FieldGroup, fieldId, type FieldProps } from "./field";
import { HiddenFields } from "./form";
import { Select } from "./selects";

interface Named {
  /** Name of the control's field. */
  name: string;
  /** Name of the column, read out after the row's label. Visible only next to a checkbox. */
  label: string;
}

/** Control of a row. */
export type RowControl =
  | (Named & { kind: "text"; value: string; placeholder?: string; maxlength?: number })
  | (Named & {
      kind: "select";
      value: string;
      options: readonly { value: string; label: string }[];
    })
  | (Named & { kind: "check"; isChecked: boolean })
  /** A value that cannot be changed, with further values that are submitted. */
  | (Named & { kind: "fixed"; value: string; sends?: Readonly<Record<string, string>> });

interface FieldRowsProps extends Omit<FieldProps, "label"> {
  legend: string;
  /** Rows with labels such as "Header 1", which only screen readers read. */
  rows: readonly {
    label: string;
    controls: readonly RowControl[];
    /** True if the error concerns this row. */
    isWrong?: boolean;
  }[];
}

/** List of entries, each a row of controls. */
export function FieldRows({ legend, rows, ...field }: FieldRowsProps) {
  return (
    <FieldGroup {...field} label={legend}>
      {rows.length === 0 ? null : (
        <ul class="card field-rows">
          {rows.map(({ label, controls, isWrong = false }) => (
            <li key={label}>
              {controls.map((control) => (
                <Control key={control.name} control={control} row={label} isWrong={isWrong} />
              ))}
            </li>
          ))}
        </ul>
      )}
    </FieldGroup>
  );
}

interface ControlProps {
  control: RowControl;
  row: string;
  isWrong: boolean;
}

function Control({ control, row, isWrong }: ControlProps) {
  const { name } = control;
  const id = fieldId(name);
  const label = `${row}: ${control.label}`;
  const common = {
    id,
    name,
    title: control.label,
    "aria-label": label,
    "aria-invalid": isWrong ? ("true" as const) : undefined,
  };
  switch (control.kind) {
    case "text":
      return (
        <input
          class="input"
          type="text"
          value={control.value}
          placeholder={control.placeholder ?? control.label}
          maxlength={control.maxlength}
          autocomplete="off"
          {...common}
        />
      );
    case "select":
      return (
        <div class="select">
          <Select options={control.options} selected={control.value} {...common} />
        </div>
      );
    case "check":
      return (
        <label class="row-check">
          <input
            type="checkbox"
            id={id}
            name={name}
            value="yes"
            checked={control.isChecked}
            aria-label={label}
          />
          {control.label}
        </label>
      );
    case "fixed":
      return (
        <span class="row-fixed">
          <HiddenFields values={{ [name]: control.value, ...control.sends }} />
          <code>{control.value}</code>
        </span>
      );
  }
}
