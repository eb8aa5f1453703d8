import type { ComponentChildren } from "preact";
import { type Role, roleAllows } from "../../base/actor";
import { NAME_MAX } from "../../base/texts";
import type { Reader } from "../../db/statements";
import type { PageRow } from "../../features/pages/store";
import { EmptyState } from "../blocks";
import { ButtonLink } from "../buttons";
import { FirstPage, readPages } from "../frame/page-choice";
import { withQuery } from "../frame/paths";
import { ListCard } from "../list";
import { PageHead, Pagination } from "../navigation";

type Query = Readonly<Record<string, string | undefined>>;

/** Maximum length of a text in a query, in UTF-16 code units; the rest is ignored. Names can have two per code point. */
const TEXT_MAX = 2 * NAME_MAX;

/** Query of a list. Invalid parameters are ignored. */
export interface ListQuery {
  pages: readonly PageRow[];
  /** Page that the list is filtered by; undefined for all. */
  page: PageRow | undefined;
  /** Id of the last entry of the part before this one; undefined for the first part. */
  before: string | undefined;
}

/** Reads the query parameters `page`, a slug or id, and `before`. */
export function readListQuery(reader: Reader, query: Query): ListQuery {
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  return { pages, page, before: query["before"] || undefined };
}

/** Returns a text that was typed as a query parameter, by default as `q`. */
export function readSearch(query: Query, name = "q"): string {
  return (query[name] ?? "").trim().slice(0, TEXT_MAX);
}

interface ListFrameProps extends ListQuery {
  /** Heading of the screen. */
  title: string;
  /** Path of the list, and the query parameters of its filters. */
  home: string;
  filters: Readonly<Record<string, string | undefined>>;
  /** `Tabs` by state. */
  tabs: ComponentChildren;
  toolbar: ComponentChildren;
  /** Links to other screens, shown to every role. */
  links?: ComponentChildren;
  /** Link to the form for a new entry, shown to editors. */
  newLink: ComponentChildren;
  role: Role;
  /** True if this part has no entries. */
  isEmpty: boolean;
  /** Title and text of a list that never had an entry. */
  firstUse: { title: string; text: string };
  /** Sentence for filters that match nothing. */
  noMatch: string;
  /** Id of the last entry if older ones follow. */
  nextBefore: string | undefined;
  children: ComponentChildren;
}

/** Screen of a list: heading, tabs, and a card with filters, entries and links to its other parts. */
export function ListFrame(props: ListFrameProps) {
  const { title, home, filters, pages, before, role, isEmpty, firstUse, nextBefore } = props;
  const newLink = roleAllows(role, "editor") && pages.length > 0 ? props.newLink : undefined;
  const links = pages.length > 0 ? props.links : undefined;
  const isFiltered = Object.values(filters).some(Boolean);
  if (isEmpty && !isFiltered && before === undefined) {
    return (
      <>
        <PageHead title={title} actions={links} />
        <Content>
          {pages.length === 0 ? (
            <FirstPage role={role} />
          ) : (
            <EmptyState title={firstUse.title} action={newLink}>
              {firstUse.text}
            </EmptyState>
          )}
        </Content>
      </>
    );
  }
  return (
    <>
      <PageHead
        title={title}
        actions={
          <>
            {links}
            {newLink}
          </>
        }
      />
      <Content>
        {props.tabs}
        <ListCard>
          {props.toolbar}
          {!isEmpty ? (
            props.children
          ) : before === undefined ? (
            <NoMatch title={props.noMatch} home={home} />
          ) : (
            <NoOlder what={title.toLowerCase()} newest={withQuery(home, filters)} />
          )}
          <Pagination
            newestHref={before === undefined ? undefined : withQuery(home, filters)}
            olderHref={nextBefore ? withQuery(home, { ...filters, before: nextBefore }) : undefined}
          />
        </ListCard>
      </Content>
    </>
  );
}

/** Message of a later part of a list that has no entries. */
export function NoOlder({ what, newest }: { what: string; newest: string }) {
  return (
    <EmptyState
      title={`No older ${what}`}
      action={<ButtonLink href={newest}>Show the newest</ButtonLink>}
    >
      The list ends here.
    </EmptyState>
  );
}

/** Block that is refreshed as a whole, so that the first entry replaces the text of an empty list. */
function Content({ children }: { children: ComponentChildren }) {
  return (
    <div class="columns-main" id="list" data-live="">
      {children}
    </div>
  );
}

/** Message of a list whose filters match nothing, with a link to the whole list. */
export function NoMatch({ title, home }: { title: string; home: string }) {
  return (
    <EmptyState title={title} action={<ButtonLink href={home}>Show all</ButtonLink>}>
      Change the filters, or show the whole list.
    </EmptyState>
  );
}
