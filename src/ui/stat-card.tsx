import type { ComponentChildren } from "preact";
import { safeHref } from "./safe-href";

interface StatCardProps {
  label: string;
  value: number;
  /** Leads to what was counted. */
  href?: string;
  /** True if the screen is filtered by this figure. */
  isCurrent?: boolean;
}

/** A count that somebody should look at, and the way to what it counts. */
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

/** A row of them. */
export function StatCards({ children }: { children: ComponentChildren }) {
  return <div class="stats">{children}</div>;
}
