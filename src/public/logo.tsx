import { logoSize, type Page } from "../features/pages";

/** The room that a logo has at most, in CSS pixels. */
const ROOM = { width: 240, height: 44 };

/**
 * A page's own logo, which says the page's name. Its size is given, so that nothing moves when it comes.
 * `path` is where it is, without a host, since a page may have several.
 */
export function Logo({ page, path }: { page: Pick<Page, "name">; path: string }) {
  const { width, height } = logoSize(path);
  const scale = Math.min(1, ROOM.width / width, ROOM.height / height);
  const fit = (side: number) => Math.max(1, Math.round(side * scale));
  return <img class="logo" src={path} alt={page.name} width={fit(width)} height={fit(height)} />;
}
