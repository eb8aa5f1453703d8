import type { ImportSource, OptionValues, SourceOption } from "../../base/import-sources";
import { IMPORT_PARTS } from "../../features/imports/run";
import type { ImportJob } from "../../features/imports/jobs";
import type { OfferedFile } from "../../features/imports/files";
import { formatBytes } from "../../base/numbers";
import { Actions, FileField, Form, TextField } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { PageHead } from "../../ui/navigation";
import { checkboxField, FormFields, selectField, textField } from "../../ui/forms/fields";
import {
  defineForm,
  type Field,
  type FormDefinition,
  type FormState,
  optional,
  type ValuesOf,
} from "../../ui/forms/form";
import { IMPORTS_PATH } from "../../ui/frame/paths";
import { importFormPath } from "./import-paths";

/** Limit of a file in the form. The body also has the other fields, and its parts. */
export const FILE_MAX_BYTES = 768 * 1024;
export const BODY_MAX_BYTES = FILE_MAX_BYTES + 32 * 1024;

/** Screen data: the files that are offered by name, and the folder in which they are. */
export interface FormContext {
  offered: readonly OfferedFile[];
  folder: string;
}

/** Typed place and options. Those of the importer have the names that it declares. */
export interface ImportBody {
  file?: { bytes: Uint8Array; name: string };
  offered?: string;
  url?: string;
  source?: string;
  only?: string;
  internal_page?: string;
  paused?: boolean;
  take_domains?: boolean;
  history_days?: string;
  [option: string]: unknown;
}

// oxlint-disable-next-line typescript/no-explicit-any
type Fields = Record<string, Field<any, any, FormContext>>;
type ImportForm = FormDefinition<ImportBody, FormContext, Fields>;
export type ImportFormState = FormState<ValuesOf<Fields>, FormContext>;

/** Parts to which an import can be limited, in words. */
const PARTS: Readonly<Record<(typeof IMPORT_PARTS)[number], string>> = {
  pages: "Only pages",
  monitors: "Only monitors",
  webhooks: "Only webhooks",
  history: "Only the history",
};

/** Returns the form of a source, with the options that its importer declares. */
export function createImportForm(source: ImportSource): ImportForm {
  const { takes, options } = source;
  const takesFiles = takes.includes("file") || takes.includes("folder");
  const fields: Fields = {
    ...(takes.includes("url") && {
      url: optional(
        textField({
          label: "Address",
          type: "url",
          hint: "Address that begins with https://, in the place of a file.",
        }),
      ),
    }),
    ...(takesFiles && { file: uploadField(source), offered: offeredField() }),
    ...Object.fromEntries(
      options.flatMap((option) => {
        const field = optionField(option);
        return field ? [[option.name, field]] : [];
      }),
    ),
    paused: checkboxField({
      label: "Create everything paused",
      hint: "Nothing is checked or sent until you start it, so that both systems can run side by side. The report has a button for that.",
    }),
    source: textField({
      label: "Name of the source",
      initial: "default",
      hint: `Tells several installations of ${source.product} apart. Give the same name each time, since the next import from this source updates what the first one created.`,
    }),
    only: optional(
      selectField({
        label: "Parts",
        empty: "Everything",
        options: IMPORT_PARTS.map((value) => ({ value, label: PARTS[value] })),
      }),
    ),
    history_days: optional(
      textField({
        label: "Days of history",
        initial: "all",
        hint: "Results of checks before today, for bars and uptime: a number of days, all, or none. Sources without a history have none.",
        isShort: true,
      }),
    ),
    internal_page: textField({
      label: "Internal page",
      initial: "internal",
      hint: "Slug of the private page for monitors that are on no page, so that they have bars and uptime. Empty for none.",
    }),
    take_domains: checkboxField({
      label: "Take over custom domains",
      hint: "Gives pages the host names that they have in the source. Otherwise these are only listed, since the source still answers there.",
    }),
  };
  return defineForm<ImportBody, FormContext>()(fields, {
    advanced: ["source", "only", "history_days", "internal_page", "take_domains"],
  });
}

function uploadField({
  content,
  accept,
}: ImportSource): Field<ImportBody["file"], NonNullable<ImportBody["file"]>, FormContext> {
  return {
    label: "File",
    initial: undefined,
    read: (sent, name) => sent.file(name),
    toBody: (file) => file,
    fromStored: () => undefined,
    Input: ({ name, errors, context: { offered, folder } }) => (
      <FileField
        label="File"
        name={name}
        accept={accept}
        maxBytes={FILE_MAX_BYTES}
        hint={`Takes ${content}, up to ${FILE_MAX_BYTES / 1_024} KiB. It is deleted after the import, and after 24 hours at the latest.${
          offered.length === 0
            ? ` For a larger one, put it into ${folder} on the server and reload this page.`
            : ""
        }`}
        error={errors[name]}
      />
    ),
  };
}

function offeredField(): Field<string, string, FormContext> {
  const field = selectField<string, FormContext>({
    label: "Or a file on the server",
    hint: "Files of any size in the folder “import” of the data directory. They are only read.",
    empty: "None",
    options: ({ offered }) => offered.map(optionOf),
  });
  const shown = optional(field);
  // Without files there is nothing to choose; the hint of the upload names the folder.
  return {
    ...shown,
    Input: (props) => (props.context.offered.length === 0 ? null : shown.Input(props)),
  };
}

function optionOf({ name, isFolder, bytes }: OfferedFile) {
  return { value: name, label: isFolder ? `${name} (folder)` : `${name} (${formatBytes(bytes)})` };
}

/** Returns the field of an importer's option; undefined for those of the command alone. */
function optionField(option: SourceOption): Field<never, never, FormContext> | undefined {
  const { type, label, help } = option;
  const field = {
    text: () => optional(textField({ label, hint: help })),
    secret: () => secretField(option),
    switch: () => checkboxField({ label, hint: help }),
    output: () => undefined,
    file: () =>
      optional(
        selectField<string, FormContext>({
          label,
          hint: `${help} It must be in the folder “import” of the data directory.`,
          empty: "None",
          options: ({ offered }) => offered.filter(({ isFolder }) => !isFolder).map(optionOf),
        }),
      ),
  }[type]();
  return field as Field<never, never, FormContext> | undefined;
}

/** Password field whose text is never shown again. */
function secretField({ label, help }: SourceOption): Field<string, string> {
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: (typed) => typed.trim() || undefined,
    fromStored: () => "",
    Input: ({ name, errors }) => (
      <TextField
        label={label}
        name={name}
        type="password"
        autocomplete="off"
        hint={`${help} Kept until the import has ended, and never shown.`}
        error={errors[name]}
      />
    ),
  };
}

/** Returns the options of a plan as they were typed, without its file and secrets. */
export function optionsAsTyped(options: ImportJob["options"]): Partial<ValuesOf<Fields>> {
  const { source, only, historyDays: days, internalPage, isPaused, takesDomains } = options;
  return {
    source,
    only: only ?? "",
    history_days: days === null ? "all" : days === 0 ? "none" : String(days),
    internal_page: internalPage ?? "",
    paused: isPaused,
    take_domains: takesDomains,
  };
}

/** Returns the values of the importer's options. Files are still names. */
export function optionValues({ options }: ImportSource, body: ImportBody): OptionValues {
  return Object.fromEntries(
    options.flatMap(({ name, type }) => {
      const value = body[name];
      if (type === "switch") return value === true ? [[name, "yes"]] : [];
      return typeof value === "string" ? [[name, value]] : [];
    }),
  );
}

interface ImportFormScreenProps {
  source: ImportSource;
  form: ImportForm;
  state: ImportFormState;
}

/** Form for importing from a source. */
export function ImportFormScreen({ source, form, state }: ImportFormScreenProps) {
  return (
    <>
      <PageHead
        title={`Import from ${source.product}`}
        crumbs={[{ href: IMPORTS_PATH, label: "Import" }]}
      >
        You see the plan first. Nothing is changed before you confirm it, and nobody is notified.
      </PageHead>
      <Form action={importFormPath(source.kind)} hidden={state.hidden} sendsFiles>
        <FormFields form={form} state={state} />
        <Actions>
          <Button kind="primary">Show plan</Button>
          <ButtonLink href={IMPORTS_PATH}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </>
  );
}
