import type { ComponentChildren } from "preact";

/** A part of a screen, below a heading of its own. */
export function Section(props: {
  title: string;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="section">
      <div class="section-head">
        <h2>{props.title}</h2>
        {props.actions ? <div class="actions">{props.actions}</div> : null}
      </div>
      {props.children}
    </section>
  );
}

/** The main thing and, beside it where there is room, what accompanies it. */
export function Columns({
  aside,
  children,
}: {
  aside: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <div class="columns">
      <div class="columns-main">{children}</div>
      <aside>{aside}</aside>
    </div>
  );
}

interface Fact {
  label: string;
  value: ComponentChildren;
  /** True if it spans two columns. */
  isWide?: boolean;
}

/** Properties of one thing, each with its name. */
export function Facts({ items }: { items: readonly Fact[] }) {
  return (
    <dl class="facts">
      {items.map(({ label, value, isWide }) => (
        <div key={label} class={isWide ? "is-wide" : undefined}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
