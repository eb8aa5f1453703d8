import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icons";
import { safeHref } from "./buttons";

/** Line below a screen's title: state and facts. */
export function HeadFacts({ children }: { children: ComponentChildren }) {
  return <p class="head-facts">{children}</p>;
}

/** Fact with an icon, in `HeadFacts`. */
export function HeadFact({ icon, children }: { icon: IconName; children: ComponentChildren }) {
  return (
    <span class="head-fact">
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  );
}

interface MoreMenuProps {
  /** Accessible name. */
  label: string;
  /** Links and forms of rare or dangerous actions. */
  children: ComponentChildren;
}

/** Button "…" that opens a list of rare actions. Works without a script. */
export function MoreMenu({ label, children }: MoreMenuProps) {
  return (
    <details class="more-menu">
      <summary class="button">
        <Icon name="ellipsis" />
        <span class="visually-hidden">{label}</span>
      </summary>
      <div class="card more-items">{children}</div>
    </details>
  );
}

interface NumbersProps {
  /** Accessible name of the card. */
  label: string;
  liveId: string;
  items: readonly {
    label: string;
    value: ComponentChildren;
    note?: ComponentChildren;
    /** True for a figure that says nothing, such as none of what fails. It is left out. */
    isZero?: boolean;
  }[];
}

/** Card with a row of figures. */
export function Numbers({ label, liveId, items }: NumbersProps) {
  const shown = items.filter(({ isZero }) => !isZero);
  if (shown.length === 0) return null;
  return (
    <section id={liveId} data-live="" aria-label={label}>
      <dl class="card key-numbers">
        {shown.map((item) => (
          <div key={item.label}>
            <dt>{item.label}</dt>
            <dd class="number-value">{item.value}</dd>
            {item.note === undefined ? null : <dd class="number-note">{item.note}</dd>}
          </div>
        ))}
      </dl>
    </section>
  );
}

interface DetailCardProps {
  title: string;
  /** Id of the card, by which `live.js` finds it. */
  liveId: string;
  /** True if the card is not refreshed, since it has a form or is shown once. */
  isStill?: boolean;
  /** Short text after the title, such as a count. */
  count?: string | undefined;
  /** Link or text at the end of the title's line. */
  end?: ComponentChildren;
  /** True if the content is a table. */
  isTable?: boolean;
  /** True if the content has no space around it, such as rows. */
  isFlush?: boolean;
  children: ComponentChildren;
}

/** Card of a detail screen, with a title line. */
export function DetailCard(props: DetailCardProps) {
  const { title, liveId, isStill, count, end, isTable, isFlush, children } = props;
  return (
    <section
      class={isTable ? "card detail-card table-card" : "card detail-card"}
      id={liveId}
      data-live={isStill ? undefined : ""}
      aria-labelledby={`${liveId}-title`}
    >
      <div class="detail-head">
        <h2 id={`${liveId}-title`}>
          {title}
          {count === undefined ? null : <span class="detail-count"> {count}</span>}
        </h2>
        {end}
      </div>
      {isTable || isFlush ? children : <div class="detail-body">{children}</div>}
    </section>
  );
}

interface DetailRowProps {
  /** Checkbox before the shape, of a form around the rows. */
  pick?: { name: string; value: string; isChecked: boolean } | undefined;
  shape: ComponentChildren;
  href?: string;
  title: string;
  note?: ComponentChildren;
  end?: ComponentChildren;
}

/** Row of a `DetailCard`: shape, linked name, note, and a label at the end. */
export function DetailRow({ pick, shape, href, title, note, end }: DetailRowProps) {
  return (
    <li class="detail-row">
      {pick ? (
        <label class="detail-pick">
          <input type="checkbox" name={pick.name} value={pick.value} checked={pick.isChecked} />
          <span class="visually-hidden">Select {title}</span>
        </label>
      ) : null}
      {shape}
      <div>
        {href === undefined ? (
          <span class="detail-name" dir="auto">
            {title}
          </span>
        ) : (
          <a class="detail-name" dir="auto" href={safeHref(href)}>
            {title}
          </a>
        )}
        {note === undefined ? null : <p class="detail-note">{note}</p>}
      </div>
      {end}
    </li>
  );
}

interface MoreRowsProps {
  label: string;
  /** True if the fold starts open. */
  isOpen?: boolean;
  /** `DetailRow`s. */
  children: ComponentChildren;
}

/** Further rows of a `DetailCard` in a fold. Works without a script. */
export function MoreRows({ label, isOpen = false, children }: MoreRowsProps) {
  return (
    <details class="fold detail-more" open={isOpen}>
      <summary>
        <Icon name="chevron-right" />
        {label}
      </summary>
      <ul>{children}</ul>
    </details>
  );
}
