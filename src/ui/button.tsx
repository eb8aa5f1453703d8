import type { ComponentChildren } from "preact";
import { safeHref } from "./safe-href";

/** One primary button a screen; danger for what cannot be taken back. */
type ButtonKind = "primary" | "quiet" | "danger";

type Preset = Readonly<Record<string, string | readonly string[]>>;

export interface ButtonProps {
  kind?: ButtonKind;
  type?: "submit" | "button";
  name?: string;
  value?: string;
  /** The form that it sends, where it stands outside of it. */
  form?: string;
  /** Address that this button submits the form to, instead of the form's own. */
  action?: string;
  /** The same, in another tab that leaves this one as it is. */
  previewAction?: string;
  /** Values that a click fills into the form, by field name; without a script the form is sent. */
  preset?: Preset;
  isCurrent?: boolean;
  /** More about it, on hover. */
  title?: string;
  children: ComponentChildren;
}

/** Says what it does: "Revoke key", never "OK". */
export function Button(props: ButtonProps) {
  const {
    kind = "quiet",
    type = "submit",
    action,
    previewAction,
    preset,
    isCurrent,
    ...more
  } = props;
  const { children, ...rest } = more;
  const preview = previewAction
    ? { formAction: safeHref(previewAction), formTarget: "_blank" }
    : undefined;
  return (
    <button
      class={`button ${kind}`}
      type={type}
      aria-current={isCurrent ? "true" : undefined}
      data-preset={preset ? JSON.stringify(preset) : undefined}
      formAction={action ? safeHref(action) : undefined}
      {...rest}
      {...preview}
    >
      {children}
    </button>
  );
}

interface ButtonLinkProps {
  href: string;
  kind?: ButtonKind;
  /** Shows the page's dialog body in a dialog; without script the page itself. */
  dialog?: boolean;
  /** Closes the dialog that it stands in; elsewhere it is a link. */
  closesDialog?: boolean;
  /** Values that a click fills into the page's form, by field name; without script it is a link. */
  preset?: Preset;
  isCurrent?: boolean;
  /** True if the link opens in another tab. */
  opensTab?: boolean;
  /** More about it, on hover. */
  title?: string;
  children: ComponentChildren;
}

/** A link that stands where buttons stand. */
export function ButtonLink(props: ButtonLinkProps) {
  const { href, kind = "quiet", preset, children } = props;
  return (
    <a
      class={`button ${kind}`}
      href={safeHref(href)}
      target={props.opensTab ? "_blank" : undefined}
      title={props.title}
      aria-current={props.isCurrent ? "true" : undefined}
      data-dialog={props.dialog ? "" : undefined}
      data-dialog-close={props.closesDialog ? "" : undefined}
      data-preset={preset ? JSON.stringify(preset) : undefined}
    >
      {children}
    </a>
  );
}
