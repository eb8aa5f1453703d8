import type { ComponentChildren } from "preact";
import { errorSuffix, fieldId } from "./field";
import type { Tone } from "../base/status";
import { Icon, type IconName } from "./icons";
import { safeHref } from "./safe-href";

interface NoticeProps {
  tone: Tone;
  title?: string;
  children?: ComponentChildren;
}

const TONE_ICONS: Record<Tone, IconName> = {
  none: "info",
  ok: "check",
  maint: "info",
  degraded: "triangle-alert",
  partial: "triangle-alert",
  major: "triangle-alert",
};

/** Message above the content of a screen. */
export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div class={`notice t-${tone}`}>
      <Icon name={TONE_ICONS[tone]} />
      <div class="notice-text">
        {title ? <p class="strong">{title}</p> : null}
        {children ? <div>{children}</div> : null}
      </div>
    </div>
  );
}

interface FlashProps {
  message: { tone: Tone; text: string; link?: { href: string; label: string } | undefined };
}

/** Confirmation of the last action, shown once. */
export function Flash({ message }: FlashProps) {
  const { link } = message;
  return (
    <div class={`notice flash t-${message.tone}`} role="status">
      <Icon name={TONE_ICONS[message.tone]} />
      <p class="notice-text">
        {message.text}
        {link ? (
          <>
            {" "}
            <a href={safeHref(link.href)}>{link.label}</a>
          </>
        ) : null}
      </p>
    </div>
  );
}

/** Error that concerns a whole form. Takes the focus when the page loads. */
export function FormNotice({ children }: { children: ComponentChildren }) {
  return (
    <div class="notice t-major" role="alert" tabIndex={-1} autofocus>
      <Icon name="triangle-alert" />
      <p class="notice-text">{children}</p>
    </div>
  );
}

interface ErrorSummaryProps {
  /** Invalid fields. `detail` is a sentence, or the continuation of the label (`is required`). */
  errors: readonly { name: string; label: string; detail: string }[];
  /** False to leave the focus where it is when the page loads. Default: true. */
  autofocus?: boolean;
}

/** Errors of a form, listed above its fields with links to these. Renders nothing without errors. */
export function ErrorSummary({ errors, autofocus = true }: ErrorSummaryProps) {
  if (errors.length === 0) return null;
  return (
    <div class="notice t-major" role="alert" tabIndex={-1} autofocus={autofocus}>
      <Icon name="triangle-alert" />
      <div class="notice-text">
        <p class="strong">Correct {errors.length === 1 ? "this field" : "these fields"}</p>
        <ul class="plain-list">
          {errors.map(({ name, label, detail }) => (
            <li key={name}>
              <a href={`#${fieldId(name)}`}>{label}</a>
              {errorSuffix(detail)}
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
