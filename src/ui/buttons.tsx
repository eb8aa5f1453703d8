import type { ComponentChildren } from "preact";

/** Appearance. A screen has at most one primary button; danger marks what cannot be undone. */
type ButtonKind = "primary" | "quiet" | "danger";

/** Values by field name. */
type Preset = Readonly<Record<string, string | readonly string[]>>;

export interface ButtonProps {
  kind?: ButtonKind;
  type?: "submit" | "button";
  name?: string;
  value?: string;
  /** Id of the form to submit, if the button is outside of it. */
  form?: string;
  /** Path that this button submits the form to, instead of the form's own. */
  action?: string;
  /** Path that this button submits the form to, in a new tab. */
  previewAction?: string;
  /** Values that a click fills into the form; without a script the form is submitted. */
  preset?: Preset;
  isCurrent?: boolean;
  /** Tooltip. */
  title?: string;
  children: ComponentChildren;
}

/** Button of a form. Its text is a verb and an object, such as "Revoke key". */
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
  /** True if the linked page's `DialogForm` opens in a dialog; without a script the page opens. */
  dialog?: boolean;
  /** True if a click closes the surrounding dialog; outside of a dialog it follows the link. */
  closesDialog?: boolean;
  isCurrent?: boolean;
  /** True if the link opens in another tab. */
  opensTab?: boolean;
  /** Tooltip. */
  title?: string;
  /** Key that follows the link. */
  shortcut?: string;
  children: ComponentChildren;
}

/** Link that looks like a button. */
export function ButtonLink(props: ButtonLinkProps) {
  const { href, kind = "quiet", children } = props;
  return (
    <a
      class={`button ${kind}`}
      href={safeHref(href)}
      target={props.opensTab ? "_blank" : undefined}
      title={props.title}
      aria-current={props.isCurrent ? "true" : undefined}
      data-dialog={props.dialog ? "" : undefined}
      data-key={props.shortcut}
      data-dialog-close={props.closesDialog ? "" : undefined}
    >
      {children}
    </a>
  );
}

/** Form that consists of one button. */
export function PostButton({ action, ...button }: ButtonProps & { action: string }) {
  return (
    <form method="post" action={safeHref(action)}>
      <Button {...button} />
    </form>
  );
}

const HERE = "https://here.invalid";

/**
 * Returns a link's target if it is safe, else undefined, which renders a link without a target. Safe are
 * paths of this site, and http and https without user name and password. Rejects `javascript:`, `data:`,
 * `//host` and everything that browsers read as one of these.
 */
export function safeHref(url: string): string | undefined {
  // Browsers remove tabs and line breaks, and read a backslash as a slash.
  // oxlint-disable-next-line no-control-regex -- the pattern is for control characters
  if (/[\u0000-\u0020\\]/.test(url)) return undefined;
  const isOfThisSite = /^[/?#]/.test(url);
  if (!isOfThisSite && !/^https?:\/\//i.test(url)) return undefined;
  const parsed = URL.parse(url, HERE);
  if (!parsed || parsed.username !== "" || parsed.password !== "") return undefined;
  return isOfThisSite === (parsed.origin === HERE) ? url : undefined;
}
