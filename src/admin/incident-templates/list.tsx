import type { Reader } from "../../db/statements";
import { type Role, roleAllows } from "../../domain/role";
import { listTemplateSummaries } from "../../features/incident-templates/store";
import { areBuiltInTemplatesHidden } from "../../features/settings/switches";
import { plural } from "../../kernel/text";
import { INCIDENT_WORDS } from "../../public/words";
import { ButtonLink, PostButton } from "../../ui/buttons";
import { Cell, CellNote, OneLine, Row, RowLink, Table } from "../../ui/table";
import { EmptyState, Section } from "../../ui/blocks";
import { Icon } from "../../ui/icons";
import { ListToolbar } from "../../ui/list-tools";
import { PageHead, Pagination } from "../../ui/navigation";
import { REPORT_TEMPLATES } from "../incidents/built-in-templates";
import { labelAmong, type Page, PageFilter, readPages } from "../page-choice";
import { INCIDENT_TEMPLATES_PATH, incidentTemplatePath, INCIDENTS_PATH } from "../paths";
import { listPath, NoMatch } from "../timeline/list-frame";
import { HIDE_BUILT_IN_PATH, NEW_TEMPLATE_PATH, SHOW_BUILT_IN_PATH } from "./template-paths";

const COLUMNS = [
  { label: "Template" },
  { label: "Incident name" },
  { label: "Page" },
  { label: "Status" },
];

const PAGE_SIZE = 50;

type TemplateSummary = ReturnType<typeof listTemplateSummaries>[number];

/** Content of the list of templates. */
interface TemplateListing {
  /** One part of the list, by name. */
  templates: readonly TemplateSummary[];
  /** Number of templates that match the filters. */
  count: number;
  /** Id of the template after which the part starts; undefined for the first part. */
  after: string | undefined;
  /** Id of the last template of the part if more follow. */
  nextAfter: string | undefined;
  pages: readonly Page[];
  /** Page that the list is filtered by; undefined for all. */
  page: Page | undefined;
  search: string;
  isBuiltInHidden: boolean;
}

/** Reads the templates for a query, by name. Invalid parameters are ignored. */
export function readTemplateList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): TemplateListing {
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  const search = (query["q"] ?? "").trim();
  const wanted = search.toLowerCase();
  const matches = listTemplateSummaries(reader, {})
    .filter(({ pageId }) => !page || pageId === null || pageId === page.id)
    .filter(({ name, title }) => `${name}\n${title}`.toLowerCase().includes(wanted))
    .toSorted((a, b) => a.name.localeCompare(b.name, "en") || (a.id < b.id ? -1 : 1));
  const next = matches.findIndex(({ id }) => id === query["after"]) + 1;
  // Templates may have been deleted since the link to this part was made.
  const start = next < matches.length ? next : 0;
  const templates = matches.slice(start, start + PAGE_SIZE);
  return {
    templates,
    count: matches.length,
    after: start === 0 ? undefined : query["after"],
    nextAfter: start + PAGE_SIZE < matches.length ? templates.at(-1)?.id : undefined,
    pages,
    page,
    search,
    isBuiltInHidden: areBuiltInTemplatesHidden(reader),
  };
}

/** `/admin/incidents/templates`: templates that users wrote, then the built-in ones. */
export function TemplateList({ list, role }: { list: TemplateListing; role: Role }) {
  const { templates, pages, page, search, after, nextAfter } = list;
  const filters = { q: search, page: page?.slug };
  const isFiltered = page !== undefined || search !== "";
  const isFirstUse = templates.length === 0 && !isFiltered;
  return (
    <>
      <PageHead
        title="Incident templates"
        crumbs={[{ href: INCIDENTS_PATH, label: "Incidents" }]}
        actions={isFirstUse ? undefined : <CreateLink />}
      >
        Texts and component statuses that the form for a new incident offers.
      </PageHead>
      {isFirstUse ? (
        <EmptyState title="No templates yet" action={<CreateLink />}>
          A template fills in the name, the first message and the component statuses of a new
          incident. Write one for each problem that you expect.
        </EmptyState>
      ) : (
        <ListToolbar
          isCard
          action={INCIDENT_TEMPLATES_PATH}
          search={{
            value: search,
            label: "Search by template or incident name",
            placeholder: "Search templates",
          }}
          clearHref={isFiltered ? INCIDENT_TEMPLATES_PATH : undefined}
          count={plural(list.count, "template")}
        >
          <PageFilter pages={pages} page={page} />
        </ListToolbar>
      )}
      {templates.length > 0 ? (
        <Table columns={COLUMNS} caption="Incident templates">
          {templates.map((template) => (
            <TemplateLine key={template.id} template={template} pages={pages} />
          ))}
        </Table>
      ) : isFirstUse ? null : (
        <NoMatch title="No templates match these filters" home={INCIDENT_TEMPLATES_PATH} />
      )}
      <Pagination
        newestHref={after === undefined ? undefined : listPath(INCIDENT_TEMPLATES_PATH, filters)}
        newest="First"
        olderHref={nextAfter && listPath(INCIDENT_TEMPLATES_PATH, { ...filters, after: nextAfter })}
        older="Next"
      />
      <BuiltIn isHidden={list.isBuiltInHidden} canSwitch={roleAllows(role, "admin")} />
    </>
  );
}

function CreateLink() {
  return (
    <ButtonLink href={NEW_TEMPLATE_PATH} kind="primary">
      <Icon name="plus" />
      Create template
    </ButtonLink>
  );
}

function TemplateLine(props: { template: TemplateSummary; pages: readonly Page[] }) {
  const { template, pages } = props;
  const page = pages.find(({ id }) => id === template.pageId);
  return (
    <Row>
      <Cell>
        <RowLink href={incidentTemplatePath(template.id)}>{template.name}</RowLink>
        {template.managedBy === null ? null : <CellNote>Managed by a file</CellNote>}
      </Cell>
      <Cell label="Incident name">
        <OneLine>{template.title}</OneLine>
      </Cell>
      <Cell label="Page">
        <OneLine>{page ? labelAmong(pages, page) : "All pages"}</OneLine>
      </Cell>
      <Cell label="Status">
        {INCIDENT_WORDS[template.status]}
        {template.components > 0 ? (
          <CellNote>{plural(template.components, "component")}</CellNote>
        ) : null}
      </Cell>
    </Row>
  );
}

function BuiltIn({ isHidden, canSwitch }: { isHidden: boolean; canSwitch: boolean }) {
  const labels = REPORT_TEMPLATES.map(({ label }) => `“${label}”`).join(", ");
  return (
    <Section
      title="Built-in templates"
      actions={
        canSwitch ? (
          <PostButton action={isHidden ? SHOW_BUILT_IN_PATH : HIDE_BUILT_IN_PATH}>
            {isHidden ? "Offer built-in templates" : "Hide built-in templates"}
          </PostButton>
        ) : undefined
      }
    >
      <p class="muted">
        {isHidden
          ? "Hidden. The forms for new incidents and for updates do not offer them."
          : `The form for a new incident offers ${labels} after your templates. The form for updates offers messages too.`}
        {canSwitch ? "" : " An admin can change this."}
      </p>
    </Section>
  );
}
