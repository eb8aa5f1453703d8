import type { ComponentChildren } from "preact";
import { EnterButton, type EnterButtonProps } from "./enter-button";
import { safeHref } from "./safe-href";

interface FormProps {
  /** A path of this site. */
  action: string;
  /** Values that are sent along. */
  hidden?: Readonly<Record<string, string>>;
  /**
   * Name and value of the main button, needed if another button precedes it, since Enter presses a
   * form's first button.
   */
  enter?: EnterButtonProps;
  /** True if the form has a `FileField`. */
  sendsFiles?: boolean;
  children: ComponentChildren;
}

/** A form that is posted. The server judges it, so that every complaint is told in one way. */
export function Form({ action, hidden, enter, sendsFiles, children }: FormProps) {
  const encoding = sendsFiles ? "multipart/form-data" : undefined;
  return (
    <form class="form" method="post" action={safeHref(action)} enctype={encoding} noValidate>
      <HiddenFields values={hidden} />
      {enter ? <EnterButton {...enter} /> : null}
      {children}
    </form>
  );
}

export function HiddenFields({ values }: { values: Readonly<Record<string, string>> | undefined }) {
  return (
    <>
      {Object.entries(values ?? {}).map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

/** The buttons below a form, or any row of buttons: the first is the main one. */
export function Actions({ children }: { children: ComponentChildren }) {
  return <div class="actions">{children}</div>;
}
