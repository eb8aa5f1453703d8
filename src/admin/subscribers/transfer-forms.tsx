import type { PageRow } from "../../features/pages/store";
import { CONSENT_MAX } from "../../features/subscribers/consent";
import { IMPORT_COLUMNS } from "../../features/subscribers/import-file";
import { FileField } from "../../ui/form";
import { choiceField, selectField, textAreaField, textField } from "../../ui/forms/fields";
import { defineForm, type Field, InvalidInput } from "../../ui/forms/form";
import { labelAmong } from "../../ui/frame/page-choice";
import { IMPORT_FILE_MAX_BYTES } from "./subscriber-paths";

/** Screen data of the forms: the pages that can have subscribers. */
export interface TransferContext {
  pages: readonly PageRow[];
}

export interface ImportBody {
  page: string;
  file: Uint8Array;
  kind: "confirm" | "consent";
  consent: string;
}

function pageSelect(options: { empty?: string } = {}) {
  return selectField<string, TransferContext>({
    label: "Page",
    ...options,
    options: ({ pages }) =>
      pages.map((page) => ({ value: page.id, label: labelAmong(pages, page) })),
  });
}

const csvField: Field<Uint8Array | undefined, Uint8Array, TransferContext> = {
  label: "File",
  initial: undefined,
  read: (sent, name) => sent.file(name)?.bytes,
  toBody: (bytes) => bytes ?? new InvalidInput("Select a file."),
  fromStored: () => undefined,
  Input: ({ name, errors }) => (
    <FileField
      label="File"
      name={name}
      accept={[".csv", "text/csv"]}
      maxBytes={IMPORT_FILE_MAX_BYTES}
      hint={`CSV in UTF-8 or UTF-16 whose first line names the columns: ${IMPORT_COLUMNS.join(",")}. Only email is required, and others are ignored. Several refs or kinds in a cell are separated by semicolons.`}
      error={errors[name]}
    />
  ),
};

export const IMPORT_FORM = defineForm<ImportBody, TransferContext>()({
  page: pageSelect(),
  file: csvField,
  kind: choiceField<ImportBody["kind"]>({
    label: "Consent",
    initial: "confirm",
    invalid: "Select one of the two.",
    options: [
      {
        value: "confirm",
        label: "Ask each person",
        hint: "Each person gets a mail and is subscribed by its button.",
      },
      {
        value: "consent",
        label: "They have agreed already",
        hint: "Each person is subscribed at once. Say below how they agreed.",
      },
    ],
  }),
  consent: textAreaField({
    label: "How they agreed",
    hint: "Only if they have agreed already. Stored with each subscriber.",
    rows: 3,
    maxlength: CONSENT_MAX,
  }),
});

interface ExportBody {
  page: string;
  what: "subscribers" | "suppressed";
}

export const EXPORT_FORM = defineForm<ExportBody, TransferContext>()({
  page: pageSelect({ empty: "Every page" }),
  what: choiceField<ExportBody["what"]>({
    label: "Content",
    initial: "subscribers",
    invalid: "Select one of the two.",
    options: [
      {
        value: "subscribers",
        label: "Subscribers",
        hint: "Addresses, choices and consent. The file can be imported again.",
      },
      {
        value: "suppressed",
        label: "Suppressed addresses",
        hint: "Those that a subscriber still has, with the reason. The file cannot be imported.",
      },
    ],
  }),
});

export const ERASE_FORM = defineForm<{ email: string }, TransferContext>()({
  email: textField({
    label: "Address",
    type: "email",
    hint: "The whole address. It may also be one that has not confirmed.",
    isRequired: true,
  }),
});
