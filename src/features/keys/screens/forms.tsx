import { plural } from "../../../base/text";
import { isUtcZone } from "../../../base/time";
import { isTimeZone, localTime, zoneLabel } from "../../../base/zones";
import type { Form as SentForm } from "../../../http/form-body";
import { Columns } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { CheckboxList, ChoiceField, Summary } from "../../../ui/choices";
import { Actions, Form, HiddenFields, TextField } from "../../../ui/form";
import { choiceField, FormFields, integerField, nameField } from "../../../ui/forms/fields";
import { defineForm, type Field, InvalidInput, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { KEYS_PATH } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import { PageHead } from "../../../ui/navigation";
import { useZone } from "../../../ui/times";
import {
  EXPIRY_DAYS,
  type ExpiryChoice,
  expiryChoiceLike,
  expiryOfChoice,
  type Overlap,
} from "../rules";
import { KEY_PRESETS, type Scope, SCOPE_NAMES, SCOPES } from "../scopes";
import type { KeyRow } from "../store";
import { type CreateKeyBody, DEFAULT_RATE_LIMIT, type UpdateKeyBody } from "../wire";

interface KeyFormContext {
  now: number;
  /** Endpoints that each scope opens, such as `GET /api/v1/status/{slug}`. */
  endpoints: ReadonlyMap<Scope, readonly string[]>;
  /** Path that the form is sent to. */
  action: string;
}

export const KEY_FORM = defineForm<CreateKeyBody, KeyFormContext>()({
  name: nameField({
    hint: "The program that uses the key, such as “Deploy script”.",
  }),
  scopes: scopesField(),
  rate_limit: integerField({
    label: "Rate limit",
    hint: "Requests per minute, 1 to 1,000,000.",
    initial: DEFAULT_RATE_LIMIT,
  }),
  expires: expiryField({
    hint: "90 days are suggested. A key that never expires works until you revoke it, also for others who get hold of its value.",
    lastDay: "Last day on which the key works",
  }),
});

export const KEY_EDIT_FORM = defineForm<UpdateKeyBody>()({
  name: nameField(),
  rate_limit: integerField({
    label: "Rate limit",
    hint: "Requests per minute, 1 to 1,000,000. A change applies to the next request.",
    isRequired: true,
  }),
});

/** Returns the field for the end of an old secret, such as a token. */
export function overlapField(secret: string) {
  return choiceField<Overlap>({
    label: `Old ${secret} ends`,
    initial: "24h",
    invalid: `Select when the old ${secret} ends.`,
    options: [
      { value: "now", label: "Now" },
      { value: "1h", label: "In 1 hour" },
      { value: "24h", label: "In 24 hours" },
      { value: "7d", label: "In 7 days" },
    ],
  });
}

export const ROTATE_FORM = defineForm<{ overlap: Overlap }>()({ overlap: overlapField("value") });

/** Returns the values with which the form creates another key like one, with a name of its own. */
export function valuesLike(
  { scopes, rateLimit, ...key }: KeyRow,
  name: string,
  { now, timeZone }: { now: number; timeZone: string },
) {
  const expires = expiryChoiceLike(key, now, timeZone);
  return { name, scopes, rate_limit: String(rateLimit), expires };
}

/** Returns the values of a preset; none for an unknown preset. */
export function presetValues(id: string | undefined) {
  const preset = KEY_PRESETS.find((candidate) => candidate.id === id);
  return preset ? { name: preset.name, scopes: preset.scopes } : {};
}

/** Values of the form for a new key. */
interface KeyValues {
  name: string;
  scopes: readonly string[];
}

/**
 * Returns form values filled in from the preset whose button was pressed; undefined if another button
 * was. A typed name and selected scopes are kept unless they are those of a preset.
 */
export function fillInPreset<Values extends KeyValues>(
  values: Values,
  sent: SentForm,
): Values | undefined {
  const id = sent.text("preset");
  if (id === "") return undefined;
  const preset = KEY_PRESETS.find((candidate) => candidate.id === id);
  if (!preset) return values;
  const { name, scopes } = values;
  const isNameOwn = name.trim() !== "" && !KEY_PRESETS.some((other) => other.name === name);
  const areScopesOwn = !KEY_PRESETS.some((other) => hasSameScopes(other.scopes, scopes));
  return {
    ...values,
    name: isNameOwn ? name : preset.name,
    scopes: [...new Set([...(areScopesOwn ? scopes : []), ...preset.scopes])],
  };
}

function hasSameScopes(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((scope) => other.includes(scope));
}

function scopesField(): Field<readonly string[], CreateKeyBody["scopes"], KeyFormContext> {
  return {
    label: "Scopes",
    initial: [],
    read: (sent, name) => sent.all(name),
    // More than all scopes hold an unknown or repeated one; thousands would be slow to report.
    toBody: (typed) => typed.slice(0, SCOPE_NAMES.length + 1) as CreateKeyBody["scopes"],
    fromStored: (scopes) => scopes,
    Input: ({ name, value, errors, context }) => (
      <CheckboxList
        legend="Scopes"
        name={name}
        hint="What the key can do. Scopes do not include each other and cannot be changed later."
        error={errors[name]}
        isCode
        options={SCOPE_NAMES.map((scope) => ({
          value: scope,
          label: scope,
          hint: SCOPES[scope],
          details: <Endpoints of={context.endpoints.get(scope) ?? []} />,
          isChecked: value.includes(scope),
        }))}
      />
    ),
  };
}

function Endpoints({ of: endpoints }: { of: readonly string[] }) {
  if (endpoints.length === 0) return <p class="hint">No endpoint needs this scope yet.</p>;
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

const EXPIRY_CHOICES = [
  { value: "never", label: "Never" },
  ...EXPIRY_DAYS.map((days) => ({ value: days, label: `In ${days} days` })),
  { value: "date", label: "On a date" },
];

/**
 * Field for the expiry with two inputs: `expires` is `never`, a number of days or `date`;
 * `expires_date` is the day.
 */
export function expiryField({
  hint,
  lastDay,
}: {
  hint: string;
  /** Meaning of the date, as the beginning of a sentence. */
  lastDay: string;
}): Field<ExpiryChoice & { zone?: string }, string | null, { now: number }> {
  const date = "expires_date";
  const dateLabel = "Expiration date";
  const zoneInput = "expires_zone";
  return {
    label: "Expires",
    inputs: { [date]: dateLabel },
    initial: { choice: "never", date: "" },
    read: (sent, name) => ({
      choice: sent.text(name) || "never",
      date: sent.text(date),
      zone: sent.text(zoneInput),
    }),
    toBody(typed, { now }) {
      const { choice, zone } = typed;
      const timeZone = zone && isTimeZone(zone) ? zone : "UTC";
      const expiry = expiryOfChoice(choice, typed.date, now, timeZone);
      if (expiry === null || typeof expiry === "string") return expiry;
      return new InvalidInput(expiry.error, typed.choice === "date" ? date : undefined);
    },
    fromStored: (day) => ({ choice: day === null ? "never" : "date", date: day ?? "" }),
    Input({ name, value, errors, context }) {
      const zone = useZone();
      return (
        <ChoiceField
          legend="Expires"
          name={name}
          hint={hint}
          options={EXPIRY_CHOICES}
          value={value.choice}
          error={errors[name]}
        >
          <TextField
            label={dateLabel}
            name={date}
            type="date"
            value={value.date}
            min={localTime(context.now, zone).slice(0, 10)}
            hint={`${lastDay}, in ${zoneLabel(zone)}.`}
            error={errors[date]}
            isShort
            isLastDay
          />
          {isUtcZone(zone) ? null : <HiddenFields values={{ [zoneInput]: zone }} />}
        </ChoiceField>
      );
    },
  };
}

/** Returns the endpoints that each scope opens, written as in the documentation. */
export function endpointsByScope({ routes }: AdminDependencies["routes"]): Map<Scope, string[]> {
  return new Map(
    SCOPE_NAMES.map((scope) => [
      scope,
      routes
        .filter(
          ({ operation: { access } }) => access.kind === "key" && access.scopes.includes(scope),
        )
        .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`),
    ]),
  );
}

/** Settings → API Keys → Create API Key. */
export function CreateKey({ state }: { state: StateOf<typeof KEY_FORM> }) {
  return (
    <>
      <PageHead title="Create API Key" crumbs={crumbsTo(KEYS_PATH)} />
      <Columns aside={<ScopeSummary scopes={state.values.scopes} />}>
        <Form action={state.context.action} hidden={state.hidden} enter={{}}>
          <FormFields form={KEY_FORM} state={state}>
            <Presets />
          </FormFields>
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
          <Button key={id} name="preset" value={id} preset={{ name, scopes }} title={sentence}>
            {name}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** Sentences about the selected scopes: "What this key can do". */
function ScopeSummary({ scopes }: { scopes: readonly string[] }) {
  return (
    <Summary
      title="What this key can do"
      field="scopes"
      lines={SCOPE_NAMES.filter((scope) => scopes.includes(scope)).map((scope) => SCOPES[scope])}
      emptyLine="Nothing yet. Select a scope."
    >
      The key works for all status pages. Its value is shown once, after you create the key. The
      server stores only a hash of it.
    </Summary>
  );
}
