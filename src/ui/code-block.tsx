interface CodeBlockProps {
  text: string;
  /** Text of the copy button; "Copy" by default. */
  copyLabel?: string;
  /** True if the text is a secret, which is removed when the reader leaves the page. */
  isSecret?: boolean;
}

/** Text to take elsewhere as it stands, with a button where there is a script to copy it. */
export function CodeBlock({ text, copyLabel, isSecret }: CodeBlockProps) {
  return <Code text={text} copyLabel={copyLabel} secret={isSecret ? "text" : undefined} />;
}

/** The secret itself, and nothing else: what `TestKey` sends. Shown once; it wraps, whole. */
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
      <button class="button quiet" type="button" data-copy data-scripted hidden>
        {copyLabel}
      </button>
      <span class="visually-hidden" role="status" />
    </div>
  );
}

/** Tries the key that a `Secret` on the page shows, and says how it went. Nothing without a script. */
export function TestKey() {
  return (
    <div class="test-key" data-scripted hidden>
      <button class="button quiet" type="button" data-test-key>
        Test key
      </button>
      <span class="muted" role="status" />
    </div>
  );
}
