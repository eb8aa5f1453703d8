import type { ComponentChildren } from "preact";
import { Notice } from "../blocks";
import { Button, ButtonLink } from "../buttons";
import { Actions, DialogForm, Form } from "../form";
import { FormFields } from "../forms/fields";
import { entriesOf, type FormDefinition, type FormState, type ValuesOf } from "../forms/form";
import { crumbsTo } from "../frame/places";
import type { Screen } from "../frame/render";
import { PageHead } from "../navigation";

/** Texts of a screen with one form. Its values, its address and its preview are those of the form. */
export interface FormScreenTexts extends Pick<Screen, "title" | "isSecret"> {
  /** Heading, if it differs from the title of the document. */
  heading?: string;
  /** Way to the screen. "Cancel" leads to the last one with an address. */
  crumbs: readonly { href?: string; label: string }[];
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  /** Purpose of the form, in a sentence. */
  intro?: ComponentChildren;
  /** Content between the heading and the form. */
  above?: ComponentChildren;
  /** Sentence above the buttons. */
  foot?: ComponentChildren;
  /** Main button: its text, and its name and value if it sends one. */
  button: string | { text: string; name: string; value: string };
  /** Further buttons, before the one for the preview. */
  more?: ComponentChildren;
  /** Hidden inputs besides those of the form's state. */
  hidden?: Readonly<Record<string, string>>;
}

interface FormScreenProps<Body, Context, Fields> extends Pick<
  FormScreenTexts,
  "title" | "crumbs" | "actions" | "intro" | "above" | "foot"
> {
  form: FormDefinition<Body, Context, Fields>;
  state: FormState<ValuesOf<Fields>, Context>;
  /** Path that the form is posted to. */
  action: string;
  /** Name and value of the main button, needed if another button precedes it. */
  enter?: { name?: string; value?: string };
  /** True for a form of few fields, which is a card. Its buttons are at the end, without “Cancel”. */
  isCard?: boolean;
  /** Result of a check that was run without saving, above the buttons. */
  result?: ComponentChildren;
  /** Buttons, the main one first; in a card, last. */
  children: ComponentChildren;
}

/** Screen with one form. */
export function FormScreen<Body, Context, Fields>(props: FormScreenProps<Body, Context, Fields>) {
  const { title, crumbs, actions, intro, above, foot, form, state, action, enter } = props;
  const { isCard, result, children } = props;
  const back = crumbs.findLast(({ href }) => href !== undefined);
  return (
    <>
      <PageHead title={title} crumbs={crumbs} actions={actions}>
        {intro}
      </PageHead>
      {above}
      {isCard ? (
        <Form action={action} hidden={state.hidden} {...(enter ? { enter } : {})} isCard>
          <div class="form-body">
            <FormFields form={form} state={state} />
            {result}
          </div>
          <div class="composer-foot is-stuck">
            <Actions>{children}</Actions>
          </div>
        </Form>
      ) : (
        <Form action={action} hidden={state.hidden} {...(enter ? { enter } : {})}>
          <FormFields form={form} state={state} />
          {foot ? <p class="hint">{foot}</p> : null}
          <Actions>
            {children}
            <ButtonLink href={back?.href ?? ""}>Cancel</ButtonLink>
          </Actions>
        </Form>
      )}
    </>
  );
}

interface ShownForm<Body, View, Fields> {
  form: FormDefinition<Body, View, Fields>;
  state: FormState<ValuesOf<Fields>, View>;
  /** Address to which the form is posted. */
  action: string;
  hasPreview: boolean;
}

/** Returns the screen of a form by its texts. */
export function formScreen<Body, View, Fields>(
  texts: FormScreenTexts | DialogTexts,
  { form, state, action, hasPreview }: ShownForm<Body, View, Fields>,
): Screen {
  if ("dialog" in texts) {
    const fields = (
      <FormFields form={form} state={state}>
        {texts.dialog}
      </FormFields>
    );
    return dialogScreen({ ...texts, dialog: fields }, { action, hidden: state.hidden });
  }
  const { title, isSecret, heading = title, button, more, hidden, ...around } = texts;
  const { text, ...sent } = typeof button === "string" ? { text: button } : button;
  // Enter presses the first button, which may be one of a field.
  const isEnterNeeded = entriesOf(form).some(([, field]) => field.isPressed);
  return {
    title,
    ...(isSecret === undefined ? {} : { isSecret }),
    children: (
      <FormScreen
        {...around}
        title={heading}
        form={form}
        state={hidden ? { ...state, hidden: { ...state.hidden, ...hidden } } : state}
        action={action}
        {...(isEnterNeeded ? { enter: sent } : {})}
      >
        <Button kind="primary" {...sent}>
          {text}
        </Button>
        {more}
        {hasPreview ? <Button previewAction={`${action}/preview`}>Preview</Button> : null}
      </FormScreen>
    ),
  };
}

/** Texts of a screen that asks before an action, shown as a dialog where scripts run. */
export interface DialogTexts {
  title: string;
  /** Text of the main button: verb and object, such as "Revoke key". */
  button: string;
  /** True if the action is destructive. */
  isDanger?: boolean;
  /** Paragraphs about the consequences, before the fields if there are any. */
  dialog: ComponentChildren;
  /** Content below the fields. */
  foot?: ComponentChildren;
  /** Text of the link back; "Cancel" by default. */
  cancel?: string;
  /** Address of the link back; by default that of the object, above the form. */
  cancelHref?: string;
}

interface ShownDialog {
  /** Address to which the form is posted. */
  action: string;
  hidden?: Readonly<Record<string, string>>;
}

/** Returns the screen of a dialog by its texts. `dialog` has its fields. */
export function dialogScreen(texts: DialogTexts, { action, hidden = {} }: ShownDialog): Screen {
  const { dialog, foot, cancelHref = action.slice(0, action.lastIndexOf("/")), ...form } = texts;
  return {
    title: texts.title,
    children: (
      <DialogForm {...form} action={action} hidden={hidden} cancelHref={cancelHref}>
        {dialog}
        {foot}
      </DialogForm>
    ),
  };
}

interface ShownBefore {
  /** The secret in one word, such as "value". */
  secret: string;
  /** Instruction for a lost secret, such as "rotate the key to get a new one". */
  ifLost: string;
  /** Link to the object of the secret. */
  object: { href: string; label: string };
  /** Path of the place that lists such objects. */
  list: string;
}

/** Answers a form that is submitted again after its secret was shown and is no longer held. */
export function shownBefore({ secret, ifLost, object, list }: ShownBefore): Screen {
  const title = `This ${secret} was already shown`;
  const crumbs = crumbsTo(list);
  return {
    title,
    children: (
      <>
        <PageHead title={title} crumbs={crumbs} />
        <p>
          This form was already submitted. The {secret} was shown then and cannot be shown again.
          Nothing was changed this time.
        </p>
        <p>
          If you did not copy the {secret}, {ifLost}.
        </p>
        <Actions>
          <ButtonLink href={object.href} kind="primary">
            {object.label}
          </ButtonLink>
          <ButtonLink href={list}>{crumbs.at(-1)?.label}</ButtonLink>
        </Actions>
      </>
    ),
  };
}

/** Warns that a configuration file manages the object and overwrites changes. */
export function ManagedByFile({
  what,
}: {
  what: "component" | "group" | "location" | "monitor" | "webhook" | "template" | "schedule";
}) {
  return (
    <Notice tone="maint" title="Managed by a configuration file">
      The next <code>allclear apply</code> resets this {what} to the content of the file. To keep a
      change, make it in the file.
    </Notice>
  );
}

/** Paragraph of a deletion: a configuration file that still has the object creates it again. */
export function RecreatedByFile({ what }: { what: "page" | "location" | "template" | "schedule" }) {
  return (
    <p>
      The {what} is managed by a configuration file. The next <code>allclear apply</code> creates it
      again unless you remove it from the file.
    </p>
  );
}
