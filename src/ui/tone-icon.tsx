/** Kind of a message. Each has its own colour and shape. */
export type Tone = "info" | "success" | "warning" | "danger";

const OUTLINES: Record<Tone, string> = {
  info: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1Zm-1 6v5h2V7Zm0-3v2h2V4Z",
  success: "M8 1a7 7 0 1 1 0 14A7 7 0 0 1 8 1ZM4 8.2l2.9 2.9 5.2-5.4-1.4-1.4-3.8 4-1.5-1.5Z",
  warning: "M8 1l7.5 13.5H.5ZM7 6v4.5h2V6Zm0 5.5v2h2v-2Z",
  danger: "M5 1h6l4 4v6l-4 4H5l-4-4V5Zm2 3v5h2V4Zm0 6v2h2v-2Z",
};

/** The shape of a tone, for the eye only: words always stand beside it. */
export function ToneIcon({ tone }: { tone: Tone }) {
  return (
    <svg class={`icon tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      <path fill-rule="evenodd" d={OUTLINES[tone]} />
    </svg>
  );
}
