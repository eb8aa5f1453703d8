import type { ComponentChildren } from "preact";

interface FoldProps {
  title: string;
  /** True if the fold starts open, as it must if one of its fields has an error. */
  isOpen?: boolean;
  children: ComponentChildren;
}

/** Collapsed content that most people do not need. Works without a script. */
export function Fold({ title, isOpen = false, children }: FoldProps) {
  return (
    <details class="fold" open={isOpen}>
      <summary>{title}</summary>
      <div class="fold-body">{children}</div>
    </details>
  );
}
