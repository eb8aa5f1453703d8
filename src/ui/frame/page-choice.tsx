import { type Role, roleAllows } from "../../base/actor";
import type { Reader } from "../../db/statements";
import { listAllPages, type PageRow } from "../../features/pages/store";
import { EmptyState } from "../blocks";
import { ButtonLink } from "../buttons";
import { FilterSelect } from "../list";
import { PageHead } from "../navigation";
import { PAGES_PATH } from "./paths";

/** Columns of a page that a choice of pages needs. */
export type Page = Pick<PageRow, "id" | "slug" | "name" | "isDefault">;

/** Reads all status pages in the order of the dashboard: the default page, then by name. */
export function readPages(reader: Reader): PageRow[] {
  return listAllPages(reader, {}).toSorted(
    (a, b) =>
      Number(b.isDefault) - Number(a.isDefault) ||
      a.name.localeCompare(b.name, "en") ||
      a.slug.localeCompare(b.slug, "en"),
  );
}

/**
 * Returns the page with a slug or id, else the default page, else the first. Undefined if there are
 * no pages.
 */
export function choosePage<P extends Page>(
  pages: readonly P[],
  slugOrId: string | undefined,
): P | undefined {
  return (
    pages.find(({ id, slug }) => id === slugOrId || slug === slugOrId) ??
    pages.find((page) => page.isDefault) ??
    pages[0]
  );
}

/**
 * Returns the label of a page among others: its name, followed by the slug if another page has the
 * same name.
 */
export function labelAmong(
  pages: readonly Pick<Page, "name">[],
  { name, slug }: Pick<Page, "name" | "slug">,
): string {
  const isShared = pages.filter((page) => page.name === name).length > 1;
  return isShared ? `${name} (${slug})` : name;
}

interface PageFilterProps {
  pages: readonly Page[];
  page: Page | undefined;
  /** True if all pages cannot be chosen. */
  isOnePage?: boolean;
}

/** Filter of a list by page, submitted as slug in `page`. Hidden if there is only one page. */
export function PageFilter({ pages, page, isOnePage = false }: PageFilterProps) {
  if (pages.length < 2) return null;
  return (
    <FilterSelect
      label="Page"
      name="page"
      options={[
        ...(isOnePage ? [] : [{ value: "", label: "Every page" }]),
        ...pages.map((one) => ({ value: one.slug, label: labelAmong(pages, one) })),
      ]}
      value={page?.slug ?? ""}
    />
  );
}

/** Empty state without a status page, with the first step for roles that may create one. */
export function FirstPage({ role }: { role: Role }) {
  const canCreate = roleAllows(role, "admin");
  return (
    <EmptyState
      title="No status page yet"
      action={
        canCreate ? (
          <ButtonLink href={`${PAGES_PATH}/new`} kind="primary">
            Create page
          </ButtonLink>
        ) : undefined
      }
    >
      {canCreate
        ? "A status page shows the status of your components, incidents and maintenance."
        : "Incidents and maintenance belong to a status page. Ask an admin to create one."}
    </EmptyState>
  );
}

/** Replacement for a screen that needs a status page, before the first page exists. */
export function NoPageYet({ title, role }: { title: string; role: Role }) {
  return (
    <>
      <PageHead title={title} />
      <FirstPage role={role} />
    </>
  );
}
