import type { ComponentChildren } from "preact";

interface SummaryProps {
  title: string;
  /** The name of the `CheckboxList` that it sums up. */
  field: string;
  /** The hints of the boxes that are checked now. */
  lines: readonly string[];
  /** The line that stands there while none is. */
  emptyLine: string;
  children?: ComponentChildren;
}

/** Summary of a form's checked boxes. A script keeps it current; without a script it is hidden. */
export function Summary({ title, field, lines, emptyLine, children }: SummaryProps) {
  return (
    <section class="card summary" data-scripted hidden>
      <h2>{title}</h2>
      <ul class="plain-list" data-summary={field} data-empty={emptyLine}>
        {(lines.length > 0 ? lines : [emptyLine]).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {children ? <div class="muted">{children}</div> : null}
    </section>
  );
}
