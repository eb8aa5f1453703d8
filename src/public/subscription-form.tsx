import { Type } from "@sinclair/typebox";
import type { ComponentChildren } from "preact";
import { SUBSCRIBER_EVENTS, type SubscriberEvent } from "../base/mail-address";
import { OneOf } from "../base/schema";
import { type Choosable, namesOfTargets, type TypedChoices } from "../features/subscribers/choices";
import type { Form } from "../http/form-body";
import type { MessageKey } from "../languages/words";
import { Icon } from "../ui/icons";
import type { OfferedLanguage } from "./chosen-language";
import { englishWords, useWords } from "../ui/words";

/** English labels of the kinds of messages, for the dashboard. */
export const EVENT_LABELS = englishWords("form.kind", SUBSCRIBER_EVENTS);

/** Errors of a form, as messages by the name of the input. */
export type InputErrors = Readonly<Record<string, MessageKey>>;

/** Choices of a form that was not filled in yet. */
const INITIAL_CHOICES: TypedChoices = {
  scope: "page",
  components: [],
  groups: [],
  events: ["incidents", "maintenance"],
};

/** Fields of a form with choices. */
export const ChoiceFields = {
  scope: Type.Optional(
    OneOf(["page", "selection"], { description: "`selection` for components. Default: page." }),
  ),
  component: Type.Optional(Type.Array(Type.String({ description: "Ids of components." }))),
  group: Type.Optional(Type.Array(Type.String({ description: "Ids of groups." }))),
  events: Type.Optional(Type.Array(OneOf(SUBSCRIBER_EVENTS))),
  language: Type.Optional(
    Type.String({ description: "Tag of a language of the page. Default: that of the page." }),
  ),
};

/** Reads the choices of a form as they were typed. A form without a scope is for the whole page. */
export function readTypedChoices(form: Form): TypedChoices {
  return {
    scope: form.text("scope") || "page",
    components: form.all("component"),
    groups: form.all("group"),
    events: form.all("events"),
    language: form.text("language"),
  };
}

/** List of a form's errors, each with a link to its input; nothing without an error. */
export function InputErrorList({ errors }: { errors: InputErrors }) {
  const { say } = useWords();
  const entries = Object.entries(errors);
  if (entries.length === 0) return null;
  return (
    <div class="form-errors" role="alert">
      <Icon name="triangle-alert" />
      <ul>
        {entries.map(([name, error]) => (
          <li key={name}>
            <a href={`#field-${name}`}>{say(error)}</a>
          </li>
        ))}
      </ul>
    </div>
  );
}

interface ChoiceFieldsProps {
  typed: TypedChoices;
  choosable: Choosable;
  /** Languages among which the person chooses. */
  languages: readonly OfferedLanguage[];
  /** Tag of the language that is selected unless one of them was typed. */
  language: string;
  errors: InputErrors;
}

/** Fields for the components and the kinds of messages of a subscription. */
export function SubscriptionFields(props: ChoiceFieldsProps) {
  const { typed, choosable, languages, errors } = props;
  const { say } = useWords();
  const selected = languages.find(({ tag }) => tag === typed.language)?.tag ?? props.language;
  const hasComponents = choosable.components.length > 0;
  return (
    <>
      {hasComponents ? (
        <fieldset class="field" id="field-scope" tabIndex={-1}>
          <legend class="label">{say("form.about")}</legend>
          <Pick
            type="radio"
            name="scope"
            value="page"
            label={say("form.all")}
            isChecked={typed.scope !== "selection"}
          />
          <Pick
            type="radio"
            name="scope"
            value="selection"
            label={say("form.some")}
            isChecked={typed.scope === "selection"}
          />
        </fieldset>
      ) : null}
      {hasComponents ? (
        <fieldset
          class="field picks"
          id="field-component"
          tabIndex={-1}
          aria-describedby={errors["component"] ? "field-component-error" : undefined}
        >
          <legend class="label">{say("form.components")}</legend>
          <Components typed={typed} choosable={choosable} />
          <InputError name="component" errors={errors} />
        </fieldset>
      ) : null}
      <fieldset
        class="field"
        id="field-events"
        tabIndex={-1}
        aria-describedby={errors["events"] ? "field-events-error" : undefined}
      >
        <legend class="label">{say("form.kinds")}</legend>
        {SUBSCRIBER_EVENTS.map((event) => (
          <Pick
            key={event}
            type="checkbox"
            name="events"
            value={event}
            label={say(`form.kind.${event}`)}
            isChecked={typed.events.includes(event)}
          />
        ))}
        <InputError name="events" errors={errors} />
      </fieldset>
      {languages.length === 0 ? null : (
        <div class="field">
          <label class="label" for="field-language">
            {say("form.language")}
          </label>
          <select class="input" id="field-language" name="language">
            {languages.map(({ tag, lang, name, dir }) => (
              <option key={tag} value={tag} lang={lang} dir={dir} selected={tag === selected}>
                {name}
              </option>
            ))}
          </select>
        </div>
      )}
    </>
  );
}

/** Components without a group, then each group with its components. */
function Components({ typed, choosable }: Pick<ChoiceFieldsProps, "typed" | "choosable">) {
  const { say } = useWords();
  const byGroup = Map.groupBy(choosable.components, ({ groupId }) => groupId);
  const chosen = new Set([...typed.components, ...typed.groups]);
  const picksOf = (groupId: string | null) =>
    (byGroup.get(groupId) ?? []).map(({ id, name }) => (
      <Pick
        key={id}
        type="checkbox"
        name="component"
        value={id}
        label={name}
        isChecked={chosen.has(id)}
      />
    ));
  const ungrouped = picksOf(null);
  return (
    <>
      {ungrouped.length > 0 ? <div class="pick-grid">{ungrouped}</div> : null}
      {choosable.groups.map(({ id, name }) => (
        <div class="pick-group" key={id}>
          <Pick
            type="checkbox"
            name="group"
            value={id}
            label={name}
            note={say("form.group_note")}
            isChecked={chosen.has(id)}
          />
          <div class="pick-grid">{picksOf(id)}</div>
        </div>
      ))}
    </>
  );
}

interface PickProps {
  type: "checkbox" | "radio";
  name: string;
  value: string;
  label: ComponentChildren;
  note?: ComponentChildren;
  isChecked: boolean;
}

function Pick({ type, name, value, label, note, isChecked }: PickProps) {
  return (
    <label class="check">
      <input type={type} name={name} value={value} checked={isChecked} />
      <span>
        <bdi>{label}</bdi>
        {note ? <span class="hint">{note}</span> : null}
      </span>
    </label>
  );
}

/** Error below an input; nothing without one. */
function InputError({ name, errors }: { name: string; errors: InputErrors }) {
  const { say } = useWords();
  const error = errors[name];
  if (!error) return null;
  return (
    <p class="field-error" id={`field-${name}-error`}>
      <Icon name="triangle-alert" />
      <span>{say(error)}</span>
    </p>
  );
}

/** Choices in words, as a list. */
export function ChoicesInWords(props: {
  choices: { scope: string; targets: readonly string[]; events: readonly SubscriberEvent[] };
  choosable: Choosable;
}) {
  const { say } = useWords();
  const { choices, choosable } = props;
  const names = namesOfTargets(choices.targets, choosable);
  return (
    <>
      <div>
        <dt>{say("form.about")}</dt>
        <dd>
          {choices.scope === "page" ? (
            say("form.all")
          ) : names.length === 0 ? (
            say("form.removed")
          ) : (
            <ul>
              {names.map((name) => (
                <li key={name}>
                  <bdi>{name}</bdi>
                </li>
              ))}
            </ul>
          )}
        </dd>
      </div>
      <div>
        <dt>{say("form.kinds")}</dt>
        <dd>
          <ul>
            {choices.events.map((event) => (
              <li key={event}>{say(`form.kind.${event}`)}</li>
            ))}
          </ul>
        </dd>
      </div>
    </>
  );
}

/** Content of the form for e-mail: as it was typed, with errors. */
export interface SubscribeFormState {
  email: string;
  typed: TypedChoices;
  errors: InputErrors;
  /** Reason for which nothing was stored, although the fields are right. */
  notice?: MessageKey;
}

export const EMPTY_FORM: SubscribeFormState = { email: "", typed: INITIAL_CHOICES, errors: {} };

interface SubscribeFormProps {
  action: string;
  choosable: Choosable;
  languages: readonly OfferedLanguage[];
  /** Tag of the language of the page. */
  language: string;
  state: SubscribeFormState;
}

/** Card with the form for messages by e-mail. */
export function SubscribeForm(props: SubscribeFormProps) {
  const { action, choosable, languages, language, state } = props;
  const { t, say } = useWords();
  const { email, typed, errors, notice } = state;
  const isOpen = state !== EMPTY_FORM;
  const described = ["field-email-hint", ...(errors["email"] ? ["field-email-error"] : [])];
  return (
    <section class="card way is-wide" id="e-mail">
      <Heading />
      <InputErrorList errors={errors} />
      {notice ? (
        <p class="form-errors" role="alert">
          <Icon name="triangle-alert" />
          {say(notice)}
        </p>
      ) : null}
      <form class="form" method="post" action={action} noValidate>
        <div class="field">
          <label class="label" for="field-email">
            {say("form.address")}
          </label>
          <div class="join">
            <input
              class="input"
              id="field-email"
              name="email"
              type="email"
              autocomplete="email"
              maxLength={254}
              placeholder={t("form.address_example")}
              value={email}
              dir="ltr"
              required
              aria-invalid={errors["email"] ? "true" : undefined}
              aria-describedby={described.join(" ")}
            />
            <button class="button primary" type="submit">
              {say("form.submit")}
            </button>
          </div>
          <p class="hint" id="field-email-hint">
            {say("form.address_hint")}
          </p>
          <InputError name="email" errors={errors} />
        </div>
        <div class="unseen" aria-hidden="true">
          <label>
            {say("form.trap")}
            <input name="website" type="text" tabIndex={-1} autocomplete="off" />
          </label>
        </div>
        <details class="fold" open={isOpen}>
          <summary>
            <Icon name="chevron-right" />
            {say("form.choose")}
          </summary>
          <div class="fold-body">
            <SubscriptionFields
              typed={typed}
              choosable={choosable}
              languages={languages}
              language={language}
              errors={errors}
            />
          </div>
        </details>
      </form>
    </section>
  );
}

/** Card of a copy, whose visitors open the live page for the form. */
export function SubscribeLink({ href }: { href: string }) {
  const { say } = useWords();
  return (
    <section class="card way is-wide" id="e-mail">
      <Heading />
      <p>
        <a class="button" href={href}>
          {say("subscribe.mail_live")}
        </a>
      </p>
    </section>
  );
}

function Heading() {
  const { say } = useWords();
  return (
    <div class="way-head">
      <span class="tile">
        <Icon name="mail" />
      </span>
      <div>
        <h2>{say("subscribe.mail")}</h2>
        <p>{say("subscribe.mail_text")}</p>
      </div>
    </div>
  );
}
