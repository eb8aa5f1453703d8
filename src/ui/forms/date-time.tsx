/*
 * Dates and times that people type, in a time zone that the form names and sends along: `dateTimeField`. The clock of the
 * zone skips some times, which are errors, and shows some twice, of which the form then asks for one.
 */
import { isUtcZone, parseInstant, toIso } from "../../base/time";
import { instantsOf, isTimeZone, localTime, zonedAt, zoneLabel } from "../../base/zones";
import type { Form as SentForm } from "../../http/form-body";
import { Select } from "../choices";
import { controlAttributes, Field as FieldBox, fieldId, type FieldProps } from "../field";
import { HiddenFields } from "../form";
import { useZone, zoneAt, zoneTime } from "../times";
import type { Field } from "./form";

/** Screen data that a form with times needs. The times are also shown in the page's time zone. */
export interface TimeZoneContext {
  page: { timeZone: string };
}

/**
 * Field for a date and a time, to the minute, in the time zone of the reader. Stored times have milliseconds. An
 * unedited field has the same text as the stored time, so that it changes nothing.
 */
export function dateTimeField(options: {
  label: string;
  hint?: string;
  isRequired?: boolean;
}): Field<string, string, TimeZoneContext> & Pick<Required<Field<string, string>>, "showError"> {
  const { label, hint, isRequired = false } = options;
  return {
    label,
    initial: "",
    read: readDateTime,
    // Invalid text is passed on, since the service would use the stored time for an omitted field.
    toBody: (typed) => parseDateTimeInput(typed) ?? typed,
    showError({ detail }, typed) {
      if (typed.trim() === "") return { detail: "is empty" };
      return { detail: dateTimeProblem(typed) ?? detail };
    },
    fromStored: (iso) => `${iso.slice(0, 16)}Z`,
    Input: ({ name, value, errors, context }) => (
      <DateTimeField
        label={label}
        name={name}
        value={value}
        hint={hint}
        error={errors[name]}
        pageZone={context.page.timeZone}
        required={isRequired}
      />
    ),
  };
}

/**
 * Reads a date and time as typed, with the time zone that the form was shown in: "2026-10-25T02:30[Europe/Berlin]",
 * with an offset if it was chosen, "2026-10-25T02:30+01:00[Europe/Berlin]". Without a time zone it is in UTC.
 */
export function readDateTime(sent: SentForm, name: string): string {
  const text = sent.text(name);
  const zone = sent.text(`${name}_zone`);
  if (text.trim() === "" || zone === "" || /Z\s*$/.test(text)) return text;
  return `${text.trim()}${sent.text(`${name}_offset`)}[${zone}]`;
}

// Values of `datetime-local` inputs, and text typed in browsers without such inputs.
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(?:Z|([+-]\d{2}:\d{2})?\[([^\]]+)\])?$/;

const DATE_TIME_ERROR = "must be a date and a time such as 2027-01-31 14:00";

type TypedTime = { at: number } | { problem: string };

/** Converts such a text to ISO 8601 in UTC. Undefined if it names no time, or more than one. */
export function parseDateTimeInput(typed: string): string | undefined {
  const time = readTyped(typed);
  return "at" in time ? toIso(time.at) : undefined;
}

/** Returns the error of such a text, as the continuation of its label. */
export function dateTimeProblem(typed: string): string | undefined {
  const time = readTyped(typed);
  return "problem" in time ? time.problem : undefined;
}

function readTyped(typed: string): TypedTime {
  const [, day, time, offset, zone = "UTC"] = DATE_TIME.exec(typed.trim()) ?? [];
  const shown = day === undefined ? undefined : parseInstant(`${day}T${time}Z`);
  if (shown === undefined) return { problem: DATE_TIME_ERROR };
  if (isUtcZone(zone)) return { at: shown };
  if (!isTimeZone(zone)) return { problem: "has a time zone that this server does not know" };
  const [at, second] = instantsOf(shown, zone);
  if (at === undefined) return { problem: `is skipped by the clock in ${zone}` };
  if (second === undefined) return { at };
  const meant = [at, second].find((each) => zonedAt(each, zone).offset === offset);
  if (meant !== undefined) return { at: meant };
  return { problem: `is shown twice by the clock in ${zone}. Select which of the two is meant` };
}

const OFFSET = /[+-]\d{2}:\d{2}$/;

/** Returns the parts of a text of a field: what was typed, and the zone and the offset in which it was. */
function partsOf(
  value: string,
  readerZone: string,
): { text: string; zone: string; offset: string } {
  const bracket = value.lastIndexOf("[");
  if (bracket > 0 && value.endsWith("]")) {
    const typed = value.slice(0, bracket);
    const [offset = ""] = OFFSET.exec(typed) ?? [];
    const text = typed.slice(0, typed.length - offset.length);
    return { text, zone: value.slice(bracket + 1, -1), offset };
  }
  const at = parseInstant(value);
  if (at === undefined) return { text: value, zone: value === "" ? readerZone : "UTC", offset: "" };
  return {
    text: localTime(at, readerZone).slice(0, 16),
    zone: readerZone,
    offset: zonedAt(at, readerZone).offset,
  };
}

interface DateTimeFieldProps extends FieldProps {
  /** Text as `readDateTime` returns it, or a stored time, `YYYY-MM-DDTHH:MMZ`. */
  value: string;
  /** Time zone of the page, in which the time is repeated below the field. */
  pageZone?: string | undefined;
  required?: boolean;
}

/**
 * Date and time in the time zone of the reader, which the label names. A script repeats the typed time in the time
 * zones of the page and of the browser, and in UTC.
 */
export function DateTimeField(props: DateTimeFieldProps) {
  const { value, pageZone = "UTC", required, ...field } = props;
  const { text, zone, offset } = partsOf(value, useZone());
  const shown = parseInstant(`${text.replace(" ", "T")}Z`);
  const instants = shown === undefined || !isTimeZone(zone) ? [] : instantsOf(shown, zone);
  const [at] = instants;
  const others = [pageZone, "UTC"].filter((each) => zoneLabel(each) !== zoneLabel(zone));
  const notes = new Set(isUtcZone(pageZone) && isUtcZone(zone) ? [] : others.map(zoneLabel));
  const control = controlAttributes(field);
  const zonesId = `${control.id}-zones`;
  const describedBy = [control["aria-describedby"], zonesId].filter(Boolean).join(" ");
  return (
    <FieldBox {...field} unit={zoneLabel(zone)}>
      <input
        class="input moment"
        type="datetime-local"
        value={text}
        required={required}
        autocomplete="off"
        data-zone={zoneLabel(zone)}
        data-page-zone={isUtcZone(pageZone) ? "" : pageZone}
        {...control}
        aria-describedby={describedBy}
      />
      {isUtcZone(zone) ? null : <HiddenFields values={{ [`${field.name}_zone`]: zone }} />}
      {instants.length < 2 ? null : (
        <WhichPass name={field.name} instants={instants} zone={zone} offset={offset} />
      )}
      <p class="hint" id={zonesId}>
        {at === undefined || instants.length > 1
          ? ""
          : [...notes].map((each) => zoneTime(at, each)).join(" · ")}
      </p>
    </FieldBox>
  );
}

interface WhichPassProps {
  name: string;
  /** Both times at which the clock shows what was typed, in unix ms. */
  instants: readonly number[];
  zone: string;
  /** Offset of the chosen one; empty before one was chosen. */
  offset: string;
}

/** Select of one of the two times that a clock shows alike, since it is set back between them. */
function WhichPass({ name, instants, zone, offset }: WhichPassProps) {
  const own = `${name}_offset`;
  const words = (at: number, index: number) => {
    const clock = localTime(at, zone).slice(11, 16);
    return `${index === 0 ? "First" : "Second"} ${clock}, ${zoneAt(at, zone)} (${clockInUtc(at)} UTC)`;
  };
  return (
    <div class="select">
      <Select
        id={fieldId(own)}
        name={own}
        aria-label="Which of the two"
        selected={offset}
        options={[
          ...(offset === "" ? [{ value: "", label: "Select one of the two" }] : []),
          ...instants.map((at, index) => ({
            value: zonedAt(at, zone).offset,
            label: words(at, index),
          })),
        ]}
      />
    </div>
  );
}

function clockInUtc(at: number): string {
  return toIso(at).slice(11, 16);
}
