import type { ComponentChildren } from "preact";

/** List of names and values, without those that are null. */
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
