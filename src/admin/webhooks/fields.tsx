import { FORMATS } from "../../features/webhooks";
import type { PageRow } from "../../features/pages";
import { WEBHOOK_FORMATS, type WebhookFormat } from "../../domain/webhook";
import { Button, ErrorSummary, HiddenFields, SelectField, TextField } from "../../ui";
import { type Complaints, type Wording, wording } from "../field-errors";
import { labelAmong } from "../page-choice";
import { EventChoice } from "./event-choice";
import { SettingFields, settingsOf } from "./setting-fields";
import { CHOOSE_FORMAT, type WebhookValues } from "./values";

interface WebhookFieldsProps {
  values: WebhookValues;
  complaints: Complaints;
  pages: readonly PageRow[];
  /** Names of the stored secret settings, for an existing endpoint. */
  keptSecrets?: readonly string[];
}

/**
 * Fields of an endpoint, shared by the create and edit forms. The format buttons precede the main
 * one, so the form needs `enter`.
 */
export function WebhookFields(props: WebhookFieldsProps) {
  const { values, complaints, pages, keptSecrets = [] } = props;
  const { format } = values;
  const wrong = wording(complaints, labelsOf(format));
  return (
    <>
      <ErrorSummary errors={wrong.all} />
      <FormatButtons current={format} />
      <HiddenFields values={{ format }} />
      <TextField
        label="URL"
        name="url"
        value={values.url}
        hint={
          FORMATS[format].openPath ? URL_IS_SECRET : "Where requests are sent to: https or http."
        }
        error={wrong.about("url")}
        autocomplete="off"
        maxlength={2_000}
        required
      />
      <SettingFields
        format={format}
        values={values.settings}
        kept={keptSecrets}
        cleared={values.cleared}
        wrong={wrong}
      />
      <TextField
        label="Description"
        name="description"
        value={values.description}
        hint="Purpose of the webhook, to recognise it when something goes wrong."
        error={wrong.about("description")}
        autocomplete="off"
        maxlength={1_000}
      />
      <EventChoice {...values} wrong={wrong} />
      <PageFilter page={values.page} pages={pages} wrong={wrong} />
    </>
  );
}

const URL_IS_SECRET =
  "Anyone who knows this URL can write to the channel, so its end is hidden after saving.";

function labelsOf(format: WebhookFormat): Record<string, string> {
  return {
    url: "URL",
    ...Object.fromEntries(settingsOf(format).map(({ field, label }) => [field, label])),
    description: "Description",
    events: "Events",
    page: "Page",
  };
}

/** Buttons that select the format. Each shows the form again with the fields of that format. */
function FormatButtons({ current }: { current: WebhookFormat }) {
  return (
    <div class="field">
      <p class="label" id="formats">
        Send to
      </p>
      <div class="presets is-many" role="group" aria-labelledby="formats">
        {WEBHOOK_FORMATS.map((name) => (
          <Button key={name} name={CHOOSE_FORMAT} value={name} isCurrent={name === current}>
            {FORMATS[name].label}
          </Button>
        ))}
      </div>
      <p class="hint">{FORMATS[current].hint}</p>
    </div>
  );
}

interface PageFilterProps {
  page: string;
  pages: readonly PageRow[];
  wrong: Wording;
}

function PageFilter({ page, pages, wrong }: PageFilterProps) {
  const isGone = page !== "" && !pages.some(({ id }) => id === page);
  // The sample page goes with the first real one, and nothing can be bound to it.
  const real = pages.filter(({ isSample }) => !isSample);
  return (
    <SelectField
      label="Page"
      name="page"
      hint="If you select a page, only events of that page are sent."
      options={[
        { value: "", label: "Every page" },
        ...real.map((one) => ({ value: one.id, label: labelAmong(real, one) })),
        ...(isGone ? [{ value: page, label: "A page that was deleted" }] : []),
      ]}
      value={page}
      error={wrong.about("page")}
    />
  );
}
