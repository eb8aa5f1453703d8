import type { ComponentChildren } from "preact";
import { type Tone, ToneIcon } from "./tone-icon";

interface NoticeProps {
  tone: Tone;
  title?: string;
  children?: ComponentChildren;
}

/** Something to know before anything else on the screen. */
export function Notice({ tone, title, children }: NoticeProps) {
  return (
    <div class={`notice tone-${tone}`}>
      <ToneIcon tone={tone} />
      <div class="notice-text">
        {title ? <p class="strong">{title}</p> : null}
        {children ? <div>{children}</div> : null}
      </div>
    </div>
  );
}

/** Reason for which a whole form was refused. Takes the focus when the page loads. */
export function FormNotice({ children }: { children: ComponentChildren }) {
  return (
    <div class="notice tone-danger" role="alert" tabIndex={-1} autofocus>
      <ToneIcon tone="danger" />
      <p class="notice-text">{children}</p>
    </div>
  );
}

/** Confirmation of the last action, shown once. */
export function Flash({ message }: { message: { tone: Tone; text: string } }) {
  return (
    <div class={`notice flash tone-${message.tone}`} role="status">
      <ToneIcon tone={message.tone} />
      <p class="notice-text">{message.text}</p>
    </div>
  );
}
