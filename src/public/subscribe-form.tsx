import type { Choosable, TypedChoices } from "../features/subscribers/choices";
import { Icon } from "../ui/icons";
import {
  INITIAL_CHOICES,
  InputError,
  InputErrorList,
  type InputErrors,
  SubscriptionFields,
} from "./subscription-fields";

/** Content of the form for e-mail: as it was typed, with errors. */
export interface SubscribeFormState {
  email: string;
  typed: TypedChoices;
  errors: InputErrors;
  /** Reason for which nothing was stored, although the fields are right. */
  notice?: string;
}

export const EMPTY_FORM: SubscribeFormState = { email: "", typed: INITIAL_CHOICES, errors: {} };

interface SubscribeFormProps {
  action: string;
  choosable: Choosable;
  state: SubscribeFormState;
}

/** Card with the form for messages by e-mail. */
export function SubscribeForm({ action, choosable, state }: SubscribeFormProps) {
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
          {notice}
        </p>
      ) : null}
      <form class="form" method="post" action={action} noValidate>
        <div class="field">
          <label class="label" for="field-email">
            Your address
          </label>
          <div class="join">
            <input
              class="input"
              id="field-email"
              name="email"
              type="email"
              autocomplete="email"
              maxLength={254}
              placeholder="you@company.example"
              value={email}
              dir="ltr"
              required
              aria-invalid={errors["email"] ? "true" : undefined}
              aria-describedby={described.join(" ")}
            />
            <button class="button primary" type="submit">
              Subscribe
            </button>
          </div>
          <p class="hint" id="field-email-hint">
            You get a message with a link to confirm. The address is used only for these messages.
          </p>
          <InputError name="email" errors={errors} />
        </div>
        <div class="unseen" aria-hidden="true">
          <label>
            Leave this field empty
            <input name="website" type="text" tabIndex={-1} autocomplete="off" />
          </label>
        </div>
        <details class="fold" open={isOpen}>
          <summary>
            <Icon name="chevron-right" />
            Choose components and kinds of messages
          </summary>
          <div class="fold-body">
            <SubscriptionFields typed={typed} choosable={choosable} errors={errors} />
          </div>
        </details>
      </form>
    </section>
  );
}

/** Card of a copy, whose visitors open the live page for the form. */
export function SubscribeLink({ href }: { href: string }) {
  return (
    <section class="card way is-wide" id="e-mail">
      <Heading />
      <p>
        <a class="button" href={href}>
          Subscribe on the live page
        </a>
      </p>
    </section>
  );
}

function Heading() {
  return (
    <div class="way-head">
      <span class="tile">
        <Icon name="mail" />
      </span>
      <div>
        <h2>E-mail</h2>
        <p>A message for each update. Every message has a link to unsubscribe.</p>
      </div>
    </div>
  );
}
