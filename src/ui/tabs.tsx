import { safeHref } from "./safe-href";

interface TabsProps {
  /** Accessible name of the tab list. */
  label: string;
  items: readonly { href: string; label: string; count?: number; isCurrent: boolean }[];
}

/** Views of the same thing, each a page of its own. */
export function Tabs({ label, items }: TabsProps) {
  return (
    <nav class="tabs" aria-label={label}>
      <ul>
        {items.map((item) => (
          <li key={item.href}>
            <a href={safeHref(item.href)} aria-current={item.isCurrent ? "page" : undefined}>
              {item.label}
              {item.count === undefined ? null : (
                <span class="tab-count">{item.count.toLocaleString("en")}</span>
              )}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
