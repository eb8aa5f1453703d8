import type { ComponentChildren } from "preact";

interface EmptyStateProps {
  title: string;
  /** The first step. */
  action?: ComponentChildren;
  /** Explanation of the missing content. */
  children: ComponentChildren;
}

/** In the place of a list that has nothing yet, or nothing that was looked for. */
export function EmptyState({ title, action, children }: EmptyStateProps) {
  return (
    <div class="card empty">
      <h2>{title}</h2>
      <div class="muted">{children}</div>
      {action ? <div class="actions">{action}</div> : null}
    </div>
  );
}
