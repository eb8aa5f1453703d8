import type { PageRow } from "./store";

/** Returns the path of a page's logo on this server; null if the page has none. */
export function logoPath(page: Pick<PageRow, "slug" | "logo">): string | null {
  return page.logo === null ? null : `/status/${page.slug}/logo/${page.logo}`;
}

/** The size in pixels of a logo, by its path or its URL: its file's name tells it. */
export function logoSize(path: string): { width: number; height: number } {
  const [, width = "1", height = "1"] = /-(\d+)x(\d+)\.[a-z]+$/.exec(path) ?? [];
  return { width: Number(width), height: Number(height) };
}
