import activity from "lucide-static/icons/activity.svg" with { type: "text" };
import archive from "lucide-static/icons/archive.svg" with { type: "text" };
import arrowUpRight from "lucide-static/icons/arrow-up-right.svg" with { type: "text" };
import bell from "lucide-static/icons/bell.svg" with { type: "text" };
import blocks from "lucide-static/icons/blocks.svg" with { type: "text" };
import bookOpen from "lucide-static/icons/book-open.svg" with { type: "text" };
import braces from "lucide-static/icons/braces.svg" with { type: "text" };
import calendar from "lucide-static/icons/calendar.svg" with { type: "text" };
import calendarPlus from "lucide-static/icons/calendar-plus.svg" with { type: "text" };
import chartNoAxesColumn from "lucide-static/icons/chart-no-axes-column.svg" with { type: "text" };
import check from "lucide-static/icons/check.svg" with { type: "text" };
import chevronDown from "lucide-static/icons/chevron-down.svg" with { type: "text" };
import chevronsUpDown from "lucide-static/icons/chevrons-up-down.svg" with { type: "text" };
import chevronRight from "lucide-static/icons/chevron-right.svg" with { type: "text" };
import clock from "lucide-static/icons/clock.svg" with { type: "text" };
import copy from "lucide-static/icons/copy.svg" with { type: "text" };
import download from "lucide-static/icons/download.svg" with { type: "text" };
import ellipsis from "lucide-static/icons/ellipsis.svg" with { type: "text" };
import externalLink from "lucide-static/icons/external-link.svg" with { type: "text" };
import eye from "lucide-static/icons/eye.svg" with { type: "text" };
import globe from "lucide-static/icons/globe.svg" with { type: "text" };
import hash from "lucide-static/icons/hash.svg" with { type: "text" };
import importing from "lucide-static/icons/import.svg" with { type: "text" };
import info from "lucide-static/icons/info.svg" with { type: "text" };
import keyRound from "lucide-static/icons/key-round.svg" with { type: "text" };
import layoutDashboard from "lucide-static/icons/layout-dashboard.svg" with { type: "text" };
import lock from "lucide-static/icons/lock.svg" with { type: "text" };
import logOut from "lucide-static/icons/log-out.svg" with { type: "text" };
import mail from "lucide-static/icons/mail.svg" with { type: "text" };
import mapPin from "lucide-static/icons/map-pin.svg" with { type: "text" };
import megaphone from "lucide-static/icons/megaphone.svg" with { type: "text" };
import menu from "lucide-static/icons/menu.svg" with { type: "text" };
import pause from "lucide-static/icons/pause.svg" with { type: "text" };
import pencil from "lucide-static/icons/pencil.svg" with { type: "text" };
import play from "lucide-static/icons/play.svg" with { type: "text" };
import plus from "lucide-static/icons/plus.svg" with { type: "text" };
import refreshCw from "lucide-static/icons/refresh-cw.svg" with { type: "text" };
import rss from "lucide-static/icons/rss.svg" with { type: "text" };
import scrollText from "lucide-static/icons/scroll-text.svg" with { type: "text" };
import search from "lucide-static/icons/search.svg" with { type: "text" };
import server from "lucide-static/icons/server.svg" with { type: "text" };
import settings from "lucide-static/icons/settings.svg" with { type: "text" };
import siren from "lucide-static/icons/siren.svg" with { type: "text" };
import tag from "lucide-static/icons/tag.svg" with { type: "text" };
import triangleAlert from "lucide-static/icons/triangle-alert.svg" with { type: "text" };
import users from "lucide-static/icons/users.svg" with { type: "text" };
import webhook from "lucide-static/icons/webhook.svg" with { type: "text" };
import wrench from "lucide-static/icons/wrench.svg" with { type: "text" };

/** Icons of Lucide on a grid of 24 units. Statuses are drawn by `Shape`, never by an icon. */
const ICONS = {
  activity,
  archive,
  "arrow-up-right": arrowUpRight,
  bell,
  blocks,
  "book-open": bookOpen,
  braces,
  calendar,
  "calendar-plus": calendarPlus,
  "chart-no-axes-column": chartNoAxesColumn,
  check,
  "chevron-down": chevronDown,
  "chevron-right": chevronRight,
  "chevrons-up-down": chevronsUpDown,
  clock,
  copy,
  download,
  ellipsis,
  "external-link": externalLink,
  eye,
  globe,
  hash,
  import: importing,
  info,
  "key-round": keyRound,
  "layout-dashboard": layoutDashboard,
  lock,
  "log-out": logOut,
  mail,
  "map-pin": mapPin,
  megaphone,
  menu,
  pause,
  pencil,
  play,
  plus,
  "refresh-cw": refreshCw,
  rss,
  "scroll-text": scrollText,
  search,
  server,
  settings,
  siren,
  tag,
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

/** Symbols of the icons by name, without line breaks. */
const SYMBOLS = new Map(
  Object.entries(ICONS).map(([name, text]) => {
    const [, drawing = ""] = /<svg[^>]*>([\s\S]*)<\/svg>/.exec(text) ?? [];
    const lines = drawing.replace(/\s*\n\s*/g, "");
    return [name, `<symbol id="i-${name}" viewBox="0 0 24 24">${lines}</symbol>`];
  }),
);

/** Start of the reference to an icon. Texts of people have no plain quotation marks. */
const REFERENCE = '"#i-';

/** Returns the hidden sprite with the icons that a page uses, as HTML. */
export function spriteFor(html: string): string {
  const names = new Set<string>();
  for (let at = html.indexOf(REFERENCE); at >= 0; at = html.indexOf(REFERENCE, at)) {
    at += REFERENCE.length;
    names.add(html.slice(at, html.indexOf('"', at)));
  }
  if (names.size === 0) return "";
  const symbols = Array.from(names, (name) => SYMBOLS.get(name) ?? "");
  return `<svg class="sprite" aria-hidden="true">${symbols.join("")}</svg>`;
}
