import type { ComponentChildren, SelectHTMLAttributes } from "preact";
import { renderToString } from "preact-render-to-string";
import { Icon } from "./icons";
import { controlAttributes, Field, FieldGroup, fieldId, FieldPart, type FieldProps } from "./field";

type SelectProps = SelectHTMLAttributes & {
  options: readonly { value: string; label: string }[];
  /** Value of the selected option. */
  selected: string | undefined;
};

/** Select element, to be placed in an element of the class `select`, which draws its arrow. */
export function Select({ options, selected, ...attributes }: SelectProps) {
  return (
    <select class="input" {...attributes}>
      <Options options={options} selected={selected} />
    </select>
  );
}

function Options({ options, selected }: Pick<SelectProps, "options" | "selected">) {
  return (
    <>
      {options.map(({ value, label }) => (
        <option key={value} value={value} selected={value === selected}>
          {label}
        </option>
      ))}
    </>
  );
}

interface SelectFieldProps extends FieldProps {
  options: SelectProps["options"];
  value?: string | undefined;
  /** True if a change presses the button next to the field. */
  isSubmitting?: boolean;
}

/** Field that selects one of many options. */
export function SelectField({ options, value, isSubmitting, ...field }: SelectFieldProps) {
  return (
    <Field {...field}>
      <div class="select">
        <Select
          options={options}
          selected={value}
          data-submits={isSubmitting ? "" : undefined}
          {...controlAttributes(field)}
        />
      </div>
    </Field>
  );
}

interface SelectRow {
  /** Name of the row's own field. */
  name: string;
  label: string;
  /** Note below the label. */
  note?: ComponentChildren;
  value: string;
}

interface RowPart {
  key: string;
  title?: string;
  rows: readonly SelectRow[];
}

interface SelectRowsProps extends Omit<FieldProps, "label"> {
  legend: string;
  /** Options of every row, the usual one first. */
  options: SelectProps["options"];
  /** Groups of rows; one without a title comes first. */
  parts: readonly RowPart[];
  /** True if titled parts can be folded. A part with only usual values starts folded. */
  isFolded?: boolean;
  /** Further rows in a fold, which starts open if a row of it has an unusual value. */
  more?: { title: string; parts: readonly RowPart[]; isFolded: boolean } | undefined;
}

/** Rows with a select each, all with the same options. */
export function SelectRows(props: SelectRowsProps) {
  const { legend, options, parts, isFolded, more, ...field } = props;
  const [usual] = options;
  const optionsHtml = createOptionsHtml(options);
  const isUnusual = ({ rows }: RowPart) => rows.some(({ value }) => value !== usual?.value);
  const renderParts = (shown: readonly RowPart[], isEachFolded: boolean | undefined) => (
    <div class="select-parts">
      {shown.map((part) => (
        <FieldPart
          key={part.key}
          title={part.title}
          isFolded={isEachFolded}
          isOpen={isUnusual(part)}
        >
          <ul class="card">
            {part.rows.map((row) => (
              <SelectRowItem key={row.name} row={row} optionsHtml={optionsHtml} />
            ))}
          </ul>
        </FieldPart>
      ))}
    </div>
  );
  return (
    <FieldGroup {...field} label={legend}>
      {parts.length === 0 ? null : renderParts(parts, isFolded)}
      {more && more.parts.length > 0 ? (
        <details class="fold more-rows" open={more.parts.some(isUnusual)}>
          <summary>
            <Icon name="plus" />
            {more.title}
          </summary>
          {renderParts(more.parts, more.isFolded)}
        </details>
      ) : null}
    </FieldGroup>
  );
}

/**
 * Returns a function that renders options once per selected value. A thousand rows are then rendered in
 * less than half the time.
 */
function createOptionsHtml(options: SelectProps["options"]): (selected: string) => string {
  const rendered = new Map<string, string>();
  return (selected) => {
    let html = rendered.get(selected);
    if (html === undefined) {
      html = renderToString(<Options options={options} selected={selected} />);
      rendered.set(selected, html);
    }
    return html;
  };
}

interface SelectRowItemProps {
  row: SelectRow;
  /** HTML of the options by selected value, filled while the rows are rendered. */
  optionsHtml: (selected: string) => string;
}

function SelectRowItem({ row, optionsHtml }: SelectRowItemProps) {
  const id = fieldId(row.name);
  return (
    <li class="select-row">
      <div>
        <label for={id}>{row.label}</label>
        {row.note}
      </div>
      <div class="select">
        <select
          class="input"
          id={id}
          name={row.name}
          dangerouslySetInnerHTML={{ __html: optionsHtml(row.value) }}
        />
      </div>
    </li>
  );
}
