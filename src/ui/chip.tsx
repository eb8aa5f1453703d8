import type { ComponentChildren } from "preact";
import type { Tone } from "./tone-icon";

interface ChipProps {
  tone?: Tone;
  /** True if the text is an identifier, set in the code font. */
  isCode?: boolean;
  children: ComponentChildren;
}

/** A short property: a scope, a role, a state in one word. */
export function Chip({ tone, isCode, children }: ChipProps) {
  const classes = ["chip", tone ? `tone-${tone}` : "", isCode ? "mono" : ""];
  return <span class={classes.filter(Boolean).join(" ")}>{children}</span>;
}

/** A name with a chip beside it, or below where there is no room. */
export function WithChip({
  chip,
  children,
}: {
  chip: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <span class="with-chip">
      <span>{children}</span>
      {chip}
    </span>
  );
}

/** Several, with room between them. */
export function Chips({ children }: { children: ComponentChildren }) {
  return <span class="chips">{children}</span>;
}
