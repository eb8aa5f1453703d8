import type { ComponentChildren } from "preact";

interface CardProps {
  title?: string;
  /** Buttons beside the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** A bordered box around related content. */
export function Card({ title, actions, children }: CardProps) {
  return (
    <section class="card panel">
      {title ? (
        <div class="panel-head">
          <h2>{title}</h2>
          {actions ? <div class="actions">{actions}</div> : null}
        </div>
      ) : null}
      {children}
    </section>
  );
}
