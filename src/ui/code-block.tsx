import { Icon } from "./icons";

interface CodeBlockProps {
  text: string;
  /** Text of the copy button; "Copy" by default. */
  copyLabel?: string;
  /** True if the text is a secret, which is removed when the reader leaves the page. */
  isSecret?: boolean;
}

/** Text to copy, with a copy button that a script shows. */
export function CodeBlock({ text, copyLabel, isSecret }: CodeBlockProps) {
  return <Code text={text} copyLabel={copyLabel} secret={isSecret ? "text" : undefined} />;
}

/** Secret that is shown once. Copying it is the main action of its screen. `TestKey` sends it. */
export function Secret({ text, copyLabel }: Omit<CodeBlockProps, "isSecret">) {
  return <Code text={text} copyLabel={copyLabel} secret="value" />;
}

interface CodeProps {
  text: string;
  copyLabel: string | undefined;
  secret: "value" | "text" | undefined;
}

function Code({ text, copyLabel = "Copy", secret }: CodeProps) {
  return (
    <div class={secret === "value" ? "code is-secret" : "code"} data-code>
      <code data-secret={secret}>{text}</code>
      <button
        class={secret === "value" ? "button primary" : "button quiet"}
        type="button"
        data-copy
        data-scripted
        hidden
      >
        <Icon name="copy" />
        <span data-copy-label>{copyLabel}</span>
      </button>
      <span class="visually-hidden" role="status" />
    </div>
  );
}

/** Button that sends the `Secret` of the page as a key and shows the result. Hidden without a script. */
export function TestKey() {
  return (
    <div class="test-key" data-scripted hidden>
      <button class="button quiet" type="button" data-test-key>
        <Icon name="play" />
        Test key
      </button>
      <span class="muted" role="status" />
    </div>
  );
}
