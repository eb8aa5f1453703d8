import { ButtonLink } from "./buttons";

interface PaginationProps {
  newestHref?: string | undefined;
  olderHref?: string | undefined;
}

/** The ways through a list that is newest first; nothing where there are none. */
export function Pagination({ newestHref, olderHref }: PaginationProps) {
  if (newestHref === undefined && olderHref === undefined) return null;
  return (
    <nav class="pagination" aria-label="Pages of the list">
      {newestHref === undefined ? <span /> : <ButtonLink href={newestHref}>Newest</ButtonLink>}
      {olderHref === undefined ? null : <ButtonLink href={olderHref}>Older</ButtonLink>}
    </nav>
  );
}
