import type { ComponentChildren } from "preact";

/** What is known of something, each under its name. What is null is left out. */
export function Facts(props: { items: readonly { label: string; value: ComponentChildren }[] }) {
  return (
    <dl class="facts">
      {props.items
        .filter(({ value }) => value !== null)
        .map(({ label, value }) => (
          <div key={label}>
            <dt class="muted">{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
