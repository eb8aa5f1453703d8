import { FieldGroup, type FieldProps } from "./field";
import { type Option, OptionRows } from "./option-rows";

export interface CheckPart {
  key: string;
  /** One without a title stands before the others. */
  title?: string;
  options: readonly Option[];
}

interface CheckRowsProps extends Omit<FieldProps, "label"> {
  legend: string;
  parts: readonly CheckPart[];
  /** True if titled parts can be folded. A part without a checked box starts folded. */
  isFolded?: boolean;
}

/** Any of many, in the parts that they belong to. `CheckboxList` is for a few. */
export function CheckRows({ legend, parts, isFolded, ...field }: CheckRowsProps) {
  let before = 0;
  return (
    <FieldGroup {...field} label={legend}>
      <div class="select-parts">
        {parts.map(({ key, title, options }) => {
          const { name, error } = field;
          const rows = <OptionRows type="checkbox" {...{ name, error, options, before }} />;
          before += options.length;
          if (title === undefined) return <div key={key}>{rows}</div>;
          if (!isFolded) {
            return (
              <div key={key}>
                <p class="select-title">{title}</p>
                {rows}
              </div>
            );
          }
          return (
            <details class="fold" key={key} open={options.some(({ isChecked }) => isChecked)}>
              <summary>{title}</summary>
              {rows}
            </details>
          );
        })}
      </div>
    </FieldGroup>
  );
}
