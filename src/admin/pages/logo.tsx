import { logoPath, logoSize, type PageRow } from "../../features/pages";
import { Logo } from "../../ui";

/** Logo of a page; renders nothing without one. */
export function PageLogo({ page }: { page: PageRow }) {
  const path = logoPath(page);
  return path === null ? null : <Logo src={path} alt={page.name} {...logoSize(path)} />;
}
