import type { ComponentChildren } from "preact";
import { FieldGroup, fieldId, type FieldProps } from "./field";

/** One thing that is asked about. */
export interface SelectRow {
  /** The name of its own field. */
  name: string;
  label: string;
  /** Note below the label. */
  note?: ComponentChildren;
  value: string;
}

interface SelectRowsProps extends Omit<FieldProps, "label"> {
  legend: string;
  /** The same for every row. */
  options: readonly { value: string; label: string }[];
  /** The rows, by the part that they belong to; one without a title stands before the others. */
  parts: readonly { key: string; title?: string; rows: readonly SelectRow[] }[];
  /** True if titled parts can be folded. A part without a selection starts folded. */
  isFolded?: boolean;
}

/** The same question about several things, each with a select of its own. */
export function SelectRows({ legend, options, parts, isFolded, ...field }: SelectRowsProps) {
  const [usual] = options;
  return (
    <FieldGroup {...field} label={legend}>
      <div class="select-parts">
        {parts.map(({ key, title, rows }) => {
          const list = <Rows rows={rows} options={options} />;
          if (title === undefined) return <div key={key}>{list}</div>;
          if (!isFolded) {
            return (
              <div key={key}>
                <p class="select-title">{title}</p>
                {list}
              </div>
            );
          }
          const isChosen = rows.some(({ value }) => value !== usual?.value);
          return (
            <details class="fold" key={key} open={isChosen}>
              <summary>{title}</summary>
              {list}
            </details>
          );
        })}
      </div>
    </FieldGroup>
  );
}

function Rows({
  rows,
  options,
}: Pick<SelectRowsProps, "options"> & { rows: readonly SelectRow[] }) {
  return (
    <ul class="card">
      {rows.map(({ name, label, note, value }) => (
        <li class="select-row" key={name}>
          <div>
            <label for={fieldId(name)}>{label}</label>
            {note}
          </div>
          <div class="select">
            <select class="input" id={fieldId(name)} name={name}>
              {options.map((option) => (
                <option key={option.value} value={option.value} selected={option.value === value}>
                  {option.label}
                </option>
              ))}
            </select>
          </div>
        </li>
      ))}
    </ul>
  );
}
