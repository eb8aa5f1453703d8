import type { ComponentChildren } from "preact";
import { safeHref } from "./safe-href";

interface SectionProps {
  title: string;
  /** Id that links lead to. */
  id?: string;
  /** Buttons after the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Part of a screen with a heading. */
export function Section({ title, id, actions, children }: SectionProps) {
  return (
    <section class="section" id={id}>
      <div class="section-head">
        <h2>{title}</h2>
        {actions ? <div class="actions">{actions}</div> : null}
      </div>
      {children}
    </section>
  );
}

interface CardProps {
  title?: string;
  /** Buttons after the title. */
  actions?: ComponentChildren;
  children: ComponentChildren;
}

/** Bordered box around related content. */
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

interface ColumnsProps {
  /** Content of the right column. */
  aside: ComponentChildren;
  /** True if the right column may be higher than the window, so that it must scroll. */
  isTall?: boolean;
  children: ComponentChildren;
}

/** Main content with a narrow column on its right, or below on small screens. */
export function Columns({ aside, isTall, children }: ColumnsProps) {
  return (
    <div class={isTall ? "columns is-tall" : "columns"}>
      <div class="columns-main">{children}</div>
      <aside>{aside}</aside>
    </div>
  );
}

/** Two `Card`s of the same width, below each other on small screens. */
export function SideBySide({ children }: { children: ComponentChildren }) {
  return <div class="side-by-side">{children}</div>;
}

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

interface EmptyStateProps {
  title: string;
  /** Button for the first step. */
  action?: ComponentChildren;
  /** Explanation of the missing content. */
  children: ComponentChildren;
}

/** Replacement of an empty list. */
export function EmptyState({ title, action, children }: EmptyStateProps) {
  return (
    <div class="card empty">
      <h2>{title}</h2>
      <div class="muted">{children}</div>
      {action ? <div class="actions">{action}</div> : null}
    </div>
  );
}

interface Fact {
  label: string;
  value: ComponentChildren;
  /** True if it spans two columns. */
  isWide?: boolean;
}

/** List of properties, each with its label. */
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

interface StatCardProps {
  label: string;
  value: number;
  /** Screen that lists the counted items. */
  href?: string;
  /** True if the screen is filtered by this figure. */
  isCurrent?: boolean;
}

/** Large number with a label, in `StatCards`. */
export function StatCard({ label, value, href, isCurrent }: StatCardProps) {
  const content = (
    <>
      <span class="stat-value">{value.toLocaleString("en")}</span>
      <span class="stat-label">{label}</span>
    </>
  );
  if (href === undefined) return <div class="card stat">{content}</div>;
  return (
    <a class="card stat" href={safeHref(href)} aria-current={isCurrent ? "true" : undefined}>
      {content}
    </a>
  );
}

/** Row of `StatCard`s. */
export function StatCards({ children }: { children: ComponentChildren }) {
  return <div class="stats">{children}</div>;
}
