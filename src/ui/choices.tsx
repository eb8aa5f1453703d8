import type { ComponentChildren, SelectHTMLAttributes } from "preact";
import { renderToString } from "preact-render-to-string";
import {
  controlAttributes,
  Field,
  FieldError,
  FieldGroup,
  fieldId,
  FieldPart,
  type FieldProps,
} from "./field";
import { pickerScript } from "./assets";
import { Icon, type IconName } from "./icons";

interface CheckboxProps extends Omit<FieldProps, "hint"> {
  hint?: ComponentChildren;
  isChecked: boolean;
}

/** One checkbox, which submits `yes` if it is checked. */
export function Checkbox({ label, name, hint, error, isChecked }: CheckboxProps) {
  const id = fieldId(name);
  const hintId = hint ? `${id}-hint` : undefined;
  return (
    <div class="field">
      <div class="checkbox">
        <input
          type="checkbox"
          id={id}
          name={name}
          value="yes"
          checked={isChecked}
          aria-invalid={error ? "true" : undefined}
          aria-describedby={
            [hintId, error ? `${id}-error` : ""].filter(Boolean).join(" ") || undefined
          }
        />
        <label for={id}>{label}</label>
      </div>
      {hint ? (
        <p class="hint" id={hintId}>
          {hint}
        </p>
      ) : null}
      <FieldError name={name} label={label} error={error} />
    </div>
  );
}

type GroupProps = Omit<FieldProps, "label"> & { legend: string };

interface ChoiceFieldProps extends GroupProps {
  options: readonly { value: string; label: string }[];
  value: string;
  /** Content of the last option, shown while that option is selected. */
  children?: ComponentChildren;
}

/** Radio buttons in one row, for a few short options. */
export function ChoiceField({ legend, options, value, children, ...rest }: ChoiceFieldProps) {
  const field = { ...rest, label: legend };
  return (
    <FieldGroup {...field}>
      <div class="choice">
        {options.map((option, index) => {
          const id = `${fieldId(field.name)}-${index}`;
          return (
            <span class="choice-option" key={option.value}>
              <input
                type="radio"
                id={id}
                name={field.name}
                value={option.value}
                checked={option.value === value}
              />
              <label for={id}>{option.label}</label>
            </span>
          );
        })}
      </div>
      {children ? <div class="choice-more">{children}</div> : null}
    </FieldGroup>
  );
}

interface RadioListProps extends GroupProps {
  /** True if a heading repeats the legend, which only screen readers then read. */
  isLegendHidden?: boolean;
  options: readonly Omit<Option, "isChecked">[];
  value: string;
}

/** Radio buttons below each other, each with a sentence. */
export function RadioList({ legend, options, value, ...rest }: RadioListProps) {
  const field = { ...rest, label: legend };
  const choices = options.map((option) => ({ ...option, isChecked: option.value === value }));
  return (
    <FieldGroup {...field}>
      <OptionRows type="radio" name={field.name} error={field.error} options={choices} />
    </FieldGroup>
  );
}

interface CheckboxListProps extends GroupProps {
  /** Options; a `Summary` of the field repeats the hints of the checked ones. */
  options: readonly Option[];
  /** True if the labels are identifiers, set in the code font. */
  isCode?: boolean;
}

/** Checkboxes below each other, each with a sentence. */
export function CheckboxList({ legend, options, isCode, ...rest }: CheckboxListProps) {
  const { name, error } = rest;
  return (
    <FieldGroup {...rest} label={legend}>
      <OptionRows type="checkbox" {...{ name, error, options, isCode }} />
    </FieldGroup>
  );
}

interface SummaryProps {
  title: string;
  /** Name of the `CheckboxList`. */
  field: string;
  /** Hints of the checked options. */
  lines: readonly string[];
  /** Line shown while nothing is checked. */
  emptyLine: string;
  children?: ComponentChildren;
}

/** Summary of the checked options of a form. A script keeps it current; without a script it is hidden. */
export function Summary({ title, field, lines, emptyLine, children }: SummaryProps) {
  return (
    <section class="card summary" data-scripted hidden>
      <h2>{title}</h2>
      <ul class="plain-list" data-summary={field} data-empty={emptyLine}>
        {(lines.length > 0 ? lines : [emptyLine]).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {children ? <div class="muted">{children}</div> : null}
    </section>
  );
}

interface CheckRowsProps extends GroupProps {
  /** Groups of options; one without a title comes first. */
  parts: readonly { key: string; title?: string | undefined; options: readonly Option[] }[];
  /** True if titled parts can be folded. A part without a checked box starts folded. */
  isFolded?: boolean;
}

/** Checkboxes in titled groups. */
export function CheckRows({ legend, parts, isFolded, ...field }: CheckRowsProps) {
  const { name, error } = field;
  let before = 0;
  return (
    <FieldGroup {...field} label={legend}>
      <div class="select-parts">
        {parts.map(({ key, title, options }) => {
          const rows = <OptionRows type="checkbox" {...{ name, error, options, before }} />;
          const isOpen = options.some(({ isChecked }) => isChecked);
          before += options.length;
          return (
            <FieldPart key={key} {...{ title, isFolded, isOpen }}>
              {rows}
            </FieldPart>
          );
        })}
      </div>
    </FieldGroup>
  );
}

interface CheckLinesProps extends GroupProps {
  options: readonly (Pick<Option, "value" | "label" | "isChecked"> & {
    /** Kind of the option, after its label; empty for none. */
    note: string;
    /** True for an option that always holds and cannot be changed here. */
    isFixed?: boolean;
  })[];
  /** Content below the options. */
  children?: ComponentChildren;
}

/** Checkboxes below each other, each with a note in the same line. */
export function CheckLines({ legend, options, children, ...field }: CheckLinesProps) {
  const { name, error } = field;
  return (
    <FieldGroup {...field} label={legend}>
      {options.length === 0 ? null : (
        <ul class="check-lines">
          {options.map(({ value, label, note, isChecked, isFixed = false }, index) => {
            const id = `${fieldId(name)}-${index}`;
            return (
              <li key={value} class="checkbox">
                <input
                  type="checkbox"
                  id={id}
                  name={isFixed ? undefined : name}
                  value={value}
                  checked={isChecked}
                  disabled={isFixed}
                  aria-invalid={error && !isFixed ? "true" : undefined}
                />
                <label for={id}>
                  <span dir="auto">{label}</span>
                  {note === "" ? null : <span class="quiet-text"> · {note}</span>}
                </label>
              </li>
            );
          })}
        </ul>
      )}
      {children}
    </FieldGroup>
  );
}

interface PickerProps {
  label: string;
  /** Name of the buttons that choose an option. */
  name: string;
  /** Label and placeholder of the search field, which needs a script. */
  searchLabel: string;
  placeholder: string;
  /** Message of a search that finds nothing. */
  emptyText: string;
  options: readonly {
    value: string;
    label: string;
    icon: IconName;
    /** Purpose in a few words. */
    note: string;
    /** Further words by which people look for it. */
    words: string;
  }[];
  value: string;
  /** True if the choice has the focus when the page loads, such as after an option was chosen. */
  hasFocus?: boolean;
}

/** Long choice: a list that opens. Each option is a button that sends the form. */
export function Picker(props: PickerProps) {
  const { label, name, searchLabel, placeholder, emptyText, options, value, hasFocus } = props;
  const id = fieldId(name);
  const current = options.find((option) => option.value === value);
  return (
    <div class="field">
      <span class="label" id={`${id}-label`}>
        {label}
      </span>
      <details class="more-menu picker" data-picker>
        <summary class="input" aria-labelledby={`${id}-label ${id}-now`} autofocus={hasFocus}>
          {current ? <Icon name={current.icon} /> : null}
          <span class="picker-now" id={`${id}-now`}>
            {current?.label} <span class="quiet-text">· {current?.note}</span>
          </span>
          <Icon name="chevrons-up-down" />
        </summary>
        <div class="card more-items">
          <div class="with-icon" data-scripted hidden>
            <Icon name="search" />
            <input
              class="input"
              type="search"
              aria-label={searchLabel}
              placeholder={placeholder}
              autocomplete="off"
            />
          </div>
          <ul>
            {options.map((option) => (
              <li key={option.value} data-words={option.words}>
                <button
                  class="button"
                  name={name}
                  value={option.value}
                  aria-current={option.value === value ? "true" : undefined}
                >
                  <Icon name={option.icon} />
                  <span>
                    {option.label} <small>{option.note}</small>
                  </span>
                  {option.value === value ? <Icon name="check" /> : null}
                </button>
              </li>
            ))}
          </ul>
          <p class="hint" role="status" data-empty={emptyText} />
        </div>
      </details>
      <script type="module" src={pickerScript()} />
    </div>
  );
}

interface Option {
  value: string;
  label: string;
  /** Sentence about the option. */
  hint?: string;
  /** Content below the sentence. */
  details?: ComponentChildren;
  isChecked: boolean;
}

interface OptionRowsProps extends Pick<FieldProps, "name" | "error"> {
  type: "checkbox" | "radio";
  options: readonly Option[];
  /** Number of options of the same field before these. */
  before?: number;
  isCode?: boolean | undefined;
}

/** Options below each other. The whole row is the label. */
function OptionRows(props: OptionRowsProps) {
  const { type, name, error, options, before = 0, isCode } = props;
  return (
    <ul class="card options">
      {options.map((option, index) => {
        const id = `${fieldId(name)}-${before + index}`;
        const hintId = option.hint ? `${id}-hint` : undefined;
        return (
          <li class="option" key={option.value}>
            <input
              // A single literal, since preact's types reject a union.
              type={type as "radio"}
              id={id}
              name={name}
              value={option.value}
              checked={option.isChecked}
              aria-invalid={error ? "true" : undefined}
              aria-describedby={hintId}
            />
            <div>
              <label class={isCode ? "mono" : undefined} for={id}>
                {option.label}
              </label>
              {option.hint ? (
                <p class="hint" id={hintId}>
                  {option.hint}
                </p>
              ) : null}
              {option.details}
            </div>
          </li>
        );
      })}
    </ul>
  );
}

type SelectProps = SelectHTMLAttributes & {
  /** Options; those of one `group` follow each other below its title. */
  options: readonly { value: string; label: string; group?: string | undefined }[];
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
      {[...Map.groupBy(options, ({ group }) => group)].map(([group, part]) => {
        const items = part.map(({ value, label }) => (
          <option key={value} value={value} selected={value === selected}>
            {label}
          </option>
        ));
        return group === undefined ? (
          items
        ) : (
          <optgroup key={group} label={group}>
            {items}
          </optgroup>
        );
      })}
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
  /** True if titled parts can be folded. A part with only usual values and no notes starts folded. */
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
          isOpen={isUnusual(part) || part.rows.some(({ note }) => note !== undefined)}
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
