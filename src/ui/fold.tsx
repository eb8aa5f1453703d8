import type { ComponentChildren } from "preact";

interface FoldProps {
  title: string;
  /** Whether it is open when the page comes, as it must be where a field in it is wrong. */
  isOpen?: boolean;
  children: ComponentChildren;
}

/** What most people need not see, one click away. Works without a script. */
export function Fold({ title, isOpen = false, children }: FoldProps) {
  return (
    <details class="fold" open={isOpen}>
      <summary>{title}</summary>
      <div class="fold-body">{children}</div>
    </details>
  );
}
