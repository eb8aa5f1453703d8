import activity from "lucide-static/icons/activity.svg" with { type: "text" };
import arrowUpRight from "lucide-static/icons/arrow-up-right.svg" with { type: "text" };
import blocks from "lucide-static/icons/blocks.svg" with { type: "text" };
import bookOpen from "lucide-static/icons/book-open.svg" with { type: "text" };
import chartNoAxesColumn from "lucide-static/icons/chart-no-axes-column.svg" with { type: "text" };
import check from "lucide-static/icons/check.svg" with { type: "text" };
import eye from "lucide-static/icons/eye.svg" with { type: "text" };
import globe from "lucide-static/icons/globe.svg" with { type: "text" };
import info from "lucide-static/icons/info.svg" with { type: "text" };
import keyRound from "lucide-static/icons/key-round.svg" with { type: "text" };
import layoutDashboard from "lucide-static/icons/layout-dashboard.svg" with { type: "text" };
import menu from "lucide-static/icons/menu.svg" with { type: "text" };
import scrollText from "lucide-static/icons/scroll-text.svg" with { type: "text" };
import settings from "lucide-static/icons/settings.svg" with { type: "text" };
import siren from "lucide-static/icons/siren.svg" with { type: "text" };
import triangleAlert from "lucide-static/icons/triangle-alert.svg" with { type: "text" };
import users from "lucide-static/icons/users.svg" with { type: "text" };
import webhook from "lucide-static/icons/webhook.svg" with { type: "text" };
import wrench from "lucide-static/icons/wrench.svg" with { type: "text" };

/** Icons of Lucide on a grid of 24 units. Statuses are drawn by `Shape`, never by an icon. */
const ICONS = {
  activity,
  "arrow-up-right": arrowUpRight,
  blocks,
  "book-open": bookOpen,
  "chart-no-axes-column": chartNoAxesColumn,
  check,
  eye,
  globe,
  info,
  "key-round": keyRound,
  "layout-dashboard": layoutDashboard,
  menu,
  "scroll-text": scrollText,
  settings,
  siren,
  "triangle-alert": triangleAlert,
  users,
  webhook,
  wrench,
} as const;

export type IconName = keyof typeof ICONS;

/**
 * Icon in the colour of the text. Hidden from screen readers, so a control that has only an icon needs a
 * visually hidden label.
 */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="i" aria-hidden="true">
      <use href={`#i-${name}`} />
    </svg>
  );
}

/** Returns the hidden sprite with the icons that a page uses, as HTML. */
export function spriteFor(html: string): string {
  const names = new Set(Array.from(html.matchAll(/"#i-([a-z-]+)"/g), ([, name]) => name));
  const symbols = Array.from(names, (name) => {
    const [, drawing = ""] = /<svg[^>]*>([\s\S]*)<\/svg>/.exec(ICONS[name as IconName] ?? "") ?? [];
    return `<symbol id="i-${name}" viewBox="0 0 24 24">${drawing.replace(/\s*\n\s*/g, "")}</symbol>`;
  });
  return symbols.length === 0
    ? ""
    : `<svg class="sprite" aria-hidden="true">${symbols.join("")}</svg>`;
}
