import { EXPIRY_DAYS, KEY_PRESETS, SCOPE_NAMES, SCOPES, type Scope } from "../../features/keys";
import {
  Actions,
  Button,
  ButtonLink,
  CheckboxList,
  ChoiceField,
  Columns,
  Form,
  FormErrors,
  PageHead,
  Summary,
  TextField,
} from "../../ui";
import { plural } from "../../kernel/text";
import { type Complaints, wording } from "../field-errors";
import { NameField } from "../name-field";
import { KEYS_PATH } from "../paths";

/** What stands in the form for a new key, as it was typed. */
export interface KeyFormValues {
  name: string;
  scopes: readonly string[];
  rateLimit: string;
  /** `never`, a number of days, or `date`. */
  expires: string;
  expiresDate: string;
}

interface KeyFormProps {
  values: KeyFormValues;
  complaints: Complaints;
  /** Tells this showing of the form from every other, so that sending it twice makes one key. */
  formToken: string;
  /** The endpoints that each scope opens, such as `GET /api/v1/status/{slug}`. */
  endpoints: ReadonlyMap<Scope, readonly string[]>;
  /** The first day that can be chosen, `YYYY-MM-DD`. */
  today: string;
}

const EXPIRY_CHOICES = [
  { value: "never", label: "Never" },
  ...EXPIRY_DAYS.map((days) => ({ value: days, label: `In ${days} days` })),
  { value: "date", label: "On a date" },
];

const LABELS = {
  name: "Name",
  scopes: "Scopes",
  rate_limit: "Rate limit",
  expires: "Expires",
  expires_date: "Expiration date",
};

/** Settings → API Keys → Create API Key. */
export function KeyForm({ values, complaints, formToken, endpoints, today }: KeyFormProps) {
  const wrong = wording(complaints, LABELS);
  return (
    <>
      <PageHead title="Create API Key" crumbs={[{ href: KEYS_PATH, label: "API Keys" }]} />
      <Columns aside={<Ability scopes={values.scopes} />}>
        <Form action={`${KEYS_PATH}/new`} hidden={{ form: formToken }}>
          <FormErrors errors={wrong.all} />
          <Presets />
          <NameField
            value={values.name}
            hint="What will use it. You will look for this name when something goes wrong."
            wrong={wrong}
          />
          <CheckboxList
            legend={LABELS.scopes}
            name="scopes"
            hint="All that the key may do. No scope includes another, and scopes cannot be changed later."
            error={wrong.about("scopes")}
            isCode
            options={SCOPE_NAMES.map((scope) => ({
              value: scope,
              label: scope,
              hint: SCOPES[scope],
              details: <Endpoints of={endpoints.get(scope) ?? []} />,
              isChecked: values.scopes.includes(scope),
            }))}
          />
          <TextField
            label={LABELS.rate_limit}
            name="rate_limit"
            value={values.rateLimit}
            hint="Requests a minute, 1 to 1,000,000."
            error={wrong.about("rate_limit")}
            inputmode="numeric"
            autocomplete="off"
            isShort
          />
          <ChoiceField
            legend={LABELS.expires}
            name="expires"
            options={EXPIRY_CHOICES}
            value={values.expires}
            error={wrong.about("expires")}
          >
            <TextField
              label={LABELS.expires_date}
              name="expires_date"
              type="date"
              value={values.expiresDate}
              min={today}
              hint="The last day, in UTC, on which the key works."
              error={wrong.about("expires_date")}
              isShort
            />
          </ChoiceField>
          <Actions>
            <Button kind="primary">Create API Key</Button>
            <ButtonLink href={KEYS_PATH}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Columns>
    </>
  );
}

function Presets() {
  return (
    <div class="field">
      <p class="label" id="presets">
        Start from
      </p>
      <div class="presets" role="group" aria-labelledby="presets">
        {KEY_PRESETS.map(({ id, name, scopes, sentence }) => (
          <ButtonLink
            key={id}
            href={`${KEYS_PATH}/new?preset=${id}`}
            preset={{ name, scopes }}
            title={sentence}
          >
            {name}
          </ButtonLink>
        ))}
      </div>
    </div>
  );
}

/** "This key can …". */
function Ability({ scopes }: { scopes: readonly string[] }) {
  return (
    <Summary
      title="This key can"
      field="scopes"
      lines={SCOPE_NAMES.filter((scope) => scopes.includes(scope)).map((scope) => SCOPES[scope])}
      emptyLine="Nothing yet: choose a scope."
    >
      It works for every status page here. Its value is shown once, when it is created; only a hash
      is kept.
    </Summary>
  );
}

function Endpoints({ of: endpoints }: { of: readonly string[] }) {
  if (endpoints.length === 0) {
    return <p class="hint">No endpoint needs this scope yet.</p>;
  }
  return (
    <details class="hint">
      <summary>{plural(endpoints.length, "endpoint")}</summary>
      <ul class="plain-list">
        {endpoints.map((endpoint) => (
          <li key={endpoint}>
            <code>{endpoint}</code>
          </li>
        ))}
      </ul>
    </details>
  );
}
