import type { Reader } from "../../db/statements";
import {
  listTemplatesForPage,
  listTemplatesInShort,
  type TemplateRecord,
} from "../../features/incident-templates/records";
import { measureTemplates } from "../../features/incident-templates/store";
import { areBuiltInTemplatesHidden } from "../../features/settings/switches";
import type { Form as SentForm } from "../../http/form-body";
import { type BuiltInTemplate, REPORT_TEMPLATES } from "./built-in-templates";
import { inputOf } from "./component-statuses";

/** Template of a form. All that it fills in can be edited. */
export interface FormTemplate {
  id: string;
  label: string;
  /** Values by input. An input that only other templates fill in is emptied. */
  values: Readonly<Record<string, string>>;
}

/** Templates that a form offers. */
export interface OfferedTemplates {
  /** Those that users wrote. */
  own: readonly FormTemplate[];
  builtIn: readonly FormTemplate[];
  /** True if a script fills in the templates. Otherwise the form is submitted, and `own` may be short. */
  isScripted: boolean;
}

/**
 * Maximum size of the templates that a script fills in, in characters. Larger ones are filled in by
 * submitting the form, so that the screen stays small.
 */
const SCRIPTED_MAX = 64_000;
/** Approximate size of one input of a template, and number of inputs besides components. */
const INPUT_SIZE = 50;
const INPUTS = 4;

/** Length of the message of a template that is offered in short, enough for a tooltip. */
export const SHORT_LENGTH = 300;

/**
 * Reads the templates for a new incident on a page. If they are too large for a script, the messages of
 * the own ones are cut and their other values are left out, unless `isFull`.
 */
export function readReportTemplates(
  reader: Reader,
  pageId: string,
  { isFull = false } = {},
): OfferedTemplates {
  const { length, components } = measureTemplates(reader, { pageId }) ?? {
    length: 0,
    components: 0,
  };
  const short = listTemplatesInShort(reader, { pageId, length: SHORT_LENGTH });
  const size = length + short.length * (INPUTS + components) * INPUT_SIZE;
  const isScripted = size <= SCRIPTED_MAX;
  return {
    own:
      isScripted || isFull
        ? listTemplatesForPage(reader, pageId).map(toFormTemplate)
        : short.map(({ id, name, beginning }) => ({
            id,
            label: name,
            values: { body: beginning },
          })),
    builtIn: areBuiltInTemplatesHidden(reader) ? [] : REPORT_TEMPLATES.map(fromBuiltIn),
    isScripted,
  };
}

export function fromBuiltIn({ id, label, status, body }: BuiltInTemplate): FormTemplate {
  return { id, label, values: { status, body } };
}

function toFormTemplate({ row, components }: TemplateRecord): FormTemplate {
  return {
    id: row.id,
    label: row.name,
    values: {
      name: row.title,
      // As browsers hold it in a text area.
      body: row.body.replaceAll(/\r\n?/g, "\n"),
      status: row.status,
      impact_override: row.impactOverride ?? "",
      ...Object.fromEntries([...components].map(([id, status]) => [inputOf(id), status])),
    },
  };
}

/** Name of the template buttons, and of the query parameter; their values are ids of templates. */
export const TEMPLATE_BUTTON = "template";

interface FilledValues {
  body: string;
  status: string;
  components: (componentId: string) => string;
}

/**
 * Returns form values filled in from the template whose button was pressed; undefined if another
 * button was. An unknown id changes nothing.
 */
export function fillInTemplate<Values extends FilledValues>(
  values: Values,
  sent: SentForm,
  offered: Pick<OfferedTemplates, "own" | "builtIn">,
): Values | undefined {
  const id = sent.text(TEMPLATE_BUTTON);
  return id === "" ? undefined : valuesFrom(values, id, offered);
}

/**
 * Returns form values filled in from a template. What was typed is kept: an input that is not empty
 * and has no template's value. The status is always that of the template.
 */
export function valuesFrom<Values extends FilledValues>(
  values: Values,
  id: string,
  { own, builtIn }: Pick<OfferedTemplates, "own" | "builtIn">,
): Values {
  const templates = [...own, ...builtIn];
  const chosen = templates.find((template) => template.id === id);
  if (!chosen) return values;
  const fill = (input: string, typed: string) => {
    const isOwn = typed.trim() !== "" && !templates.some(({ values }) => values[input] === typed);
    return isOwn ? typed : (chosen.values[input] ?? "");
  };
  const texts = Object.entries(values).map(([input, typed]) => [
    input,
    typeof typed === "string" ? fill(input, typed) : typed,
  ]);
  return {
    ...(Object.fromEntries(texts) as Values),
    status: chosen.values["status"] ?? values.status,
    components: (componentId) => fill(inputOf(componentId), values.components(componentId)),
  };
}

/** Returns the values that templates fill in, by input. */
export function valuesByInput(
  templates: readonly FormTemplate[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const filled = new Map<string, Set<string>>();
  for (const { values } of templates) {
    for (const [input, value] of Object.entries(values)) {
      const known = filled.get(input);
      if (known) known.add(value);
      else filled.set(input, new Set([value]));
    }
  }
  return filled;
}
