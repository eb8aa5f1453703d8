import { validate } from "../../../base/validation";
import { ManagedByFile, RecreatedByFile } from "../../../ui/screens/form-screen";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { choiceField, messageField, textField } from "../../../ui/forms/fields";
import { type PageComponents, readPageComponents } from "../../../ui/forms/object-fields";
import { defineForm, type Field, InvalidInput, nullable } from "../../../ui/forms/form";
import {
  isChoosingPage,
  OTHER_PAGE,
  PageSelect,
  type TypedPage,
} from "../../../ui/forms/page-field";
import { labelAmong, type Page, PageFilter, readPages } from "../../../ui/frame/page-choice";
import {
  INCIDENT_TEMPLATES_PATH,
  INCIDENTS_PATH,
  incidentTemplatePath,
  REPORT_PATH,
  withQuery,
} from "../../../ui/frame/paths";
import { NoMatch, readOrder } from "../../../ui/screens/list";
import { createArea } from "../../../ui/screens/area";
import type { Reader } from "../../../db/statements";
import { INCIDENT_STATUSES, OPEN_INCIDENT_STATUSES } from "../../../base/status";
import { type Role, roleAllows } from "../../../base/actor";
import { NAME_MAX } from "../../../base/texts";
import type { Form as SentForm } from "../../../http/form-body";
import { sessionOf } from "../../../http/request-context";
import { plural } from "../../../base/text";
import { INCIDENT_WORDS } from "../../../public/state";
import { EmptyState, Section } from "../../../ui/blocks";
import { ButtonLink, PostButton } from "../../../ui/buttons";
import { Icon } from "../../../ui/icons";
import {
  CellNote,
  type DataColumn,
  DataTable,
  inOrder,
  ListToolbar,
  OneLine,
  OrderSelect,
  RowLink,
  type Sorting,
} from "../../../ui/list";
import { PageHead, Pagination } from "../../../ui/navigation";
import { componentStatusesField, impactField } from "../../incidents/screens/forms";
import type { PageRow } from "../../pages/store";
import { areBuiltInTemplatesHidden, setBuiltInTemplatesHidden } from "../../settings/settings";
import { findTemplate, listTemplateSummaries, type TemplateRecord } from "../store";
import { createTemplate, deleteTemplate, getTemplate, updateTemplate } from "../templates";
import { TEMPLATE_NAME_MAX, PartialTemplateInput, TemplateInput } from "../wire";
import { REPORT_TEMPLATES, TEMPLATE_BUTTON } from "./offered";

const NEW_TEMPLATE_PATH = `${INCIDENT_TEMPLATES_PATH}/new`;
const HIDE_BUILT_IN_PATH = `${INCIDENT_TEMPLATES_PATH}/built-in/hide`;
const SHOW_BUILT_IN_PATH = `${INCIDENT_TEMPLATES_PATH}/built-in/show`;
const CRUMBS = [
  { href: INCIDENTS_PATH, label: "Incidents" },
  { href: INCIDENT_TEMPLATES_PATH, label: "Templates" },
];

/** `/admin/incidents/templates`: for editors; admins hide the built-in templates. */
export function incidentTemplateAdminRoutes(deps: AdminDependencies) {
  const { ctx } = deps;
  const area = createArea(deps, INCIDENT_TEMPLATES_PATH, "editor");

  area.screen("", ({ query, requestContext }) => {
    const list = readTemplateList(ctx.db, query);
    const { role } = sessionOf(requestContext).user;
    return { title: "Incident templates", children: <TemplateList list={list} role={role} /> };
  });

  area.form("/new", {
    form: TEMPLATE_FORM,
    load(reader, { sent, query }) {
      const id = query["from"];
      const source = id !== undefined && findTemplate(reader, { id }) ? id : undefined;
      const record = source === undefined ? undefined : getTemplate(reader, source);
      const page = sent ? sent.text("page") : (record?.row.pageId ?? query["page"]);
      return { ...readFormContext(reader, page), record };
    },
    initial: (_, { record, page }) =>
      record
        ? { ...TEMPLATE_FORM.stored(storedValues(record)), name: nameOfClone(record.row.name) }
        : { page: { selected: page?.id ?? "", shown: page?.id ?? "" } },
    show: () => ({ title: "Create template", crumbs: CRUMBS, button: "Create template" }),
    submit: (tx, body, actor) =>
      createTemplate(ctx, tx, validate(TemplateInput, body), actor).row.id,
    done: () => ({ path: INCIDENT_TEMPLATES_PATH, text: "The template was created." }),
  });

  area.editForm("/:id", {
    form: TEMPLATE_FORM,
    load(reader, { params, sent }) {
      const record = getTemplate(reader, params.id);
      const { row } = record;
      return {
        resource: storedValues(record),
        version: row.version,
        context: { ...readFormContext(reader, sent ? sent.text("page") : row.pageId), record },
      };
    },
    show({ context: { record } }) {
      const { id, name, managedBy } = record.row;
      const use = { page: record.pageSlug ?? undefined, [TEMPLATE_BUTTON]: id };
      return {
        title: `Edit “${name}”`,
        heading: "Edit template",
        crumbs: [...CRUMBS, { label: name }],
        actions: (
          <>
            <ButtonLink href={withQuery(REPORT_PATH, use)}>Report incident</ButtonLink>
            <ButtonLink href={withQuery(NEW_TEMPLATE_PATH, { from: id })}>Clone</ButtonLink>
            <ButtonLink href={incidentTemplatePath(id, "delete")} kind="danger" dialog>
              Delete
            </ButtonLink>
          </>
        ),
        above: managedBy === null ? null : <ManagedByFile what="template" />,
        button: "Save changes",
      };
    },
    update(tx, changes, actor, { params }, { record }) {
      const after = updateTemplate(
        ctx,
        tx,
        params.id,
        validate(PartialTemplateInput, changes),
        actor,
      );
      return after.row.version !== record.row.version;
    },
    done: () => ({ path: INCIDENT_TEMPLATES_PATH, text: "The template was changed." }),
  });

  area.deletion({
    noun: "template",
    find: getTemplate,
    nameOf: ({ row }) => row.name,
    consequences: ({ row }) => (
      <>
        <p>
          The form for a new incident no longer offers the template. Incidents that were reported
          with it stay as they are. This cannot be undone.
        </p>
        {row.managedBy === null ? null : <RecreatedByFile what="template" />}
      </>
    ),
    remove: (tx, { row }, actor) => deleteTemplate(ctx, tx, row.id, actor),
  });

  for (const [path, isHidden] of [
    ["/built-in/hide", true],
    ["/built-in/show", false],
  ] as const) {
    area.action(path, {
      role: "admin",
      run: (tx, _, actor) => setBuiltInTemplatesHidden(ctx, tx, isHidden, actor),
      done: (isChanged) => ({
        path: INCIDENT_TEMPLATES_PATH,
        text: isChanged
          ? `The built-in templates are ${isHidden ? "hidden" : "offered again"}.`
          : undefined,
      }),
    });
  }
  return area.routes;
}

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
  /** Order by a column; undefined for that by name. */
  order: string | undefined;
  isBuiltInHidden: boolean;
}

/** Reads the templates for a query, by name. Invalid parameters are ignored. */
function readTemplateList(
  reader: Reader,
  query: Readonly<Record<string, string | undefined>>,
): TemplateListing {
  const pages = readPages(reader);
  const page = pages.find(({ slug, id }) => slug === query["page"] || id === query["page"]);
  const search = (query["q"] ?? "").trim();
  const wanted = search.toLowerCase();
  const found = listTemplateSummaries(reader, {})
    .filter(({ pageId }) => !page || pageId === null || pageId === page.id)
    .filter(({ name, title }) => `${name}\n${title}`.toLowerCase().includes(wanted))
    .toSorted((a, b) => a.name.localeCompare(b.name, "en") || (a.id < b.id ? -1 : 1));
  const order = readOrder(query, Object.keys(ORDERS));
  const matches = inOrder(found, order, ORDERS);
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
    order,
    isBuiltInHidden: areBuiltInTemplatesHidden(reader),
  };
}

/** `/admin/incidents/templates`: templates that users wrote, then the built-in ones. */
function TemplateList({ list, role }: { list: TemplateListing; role: Role }) {
  const { templates, pages, page, search, order, after, nextAfter } = list;
  const filters = { q: search, page: page?.slug, sort: order };
  const columns = columnsOf(pages);
  const sorting: Sorting = {
    order,
    usual: "A to Z",
    pathOf: (sort) => withQuery(INCIDENT_TEMPLATES_PATH, { ...filters, sort }),
  };
  const isFiltered = page !== undefined || search !== "";
  const isFirstUse = templates.length === 0 && !isFiltered;
  return (
    <>
      <PageHead
        title="Incident templates"
        isList
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
          clearHref={isFiltered ? withQuery(INCIDENT_TEMPLATES_PATH, { sort: order }) : undefined}
          inForce={page === undefined ? 0 : 1}
          count={plural(list.count, "template")}
        >
          <PageFilter pages={pages} page={page} />
          <OrderSelect sorting={sorting} columns={columns} />
        </ListToolbar>
      )}
      {templates.length > 0 ? (
        <DataTable
          caption="Incident templates"
          columns={columns}
          entries={templates}
          sorting={sorting}
        />
      ) : isFirstUse ? null : (
        <NoMatch title="No templates match these filters" home={INCIDENT_TEMPLATES_PATH} />
      )}
      <Pagination
        newestHref={after === undefined ? undefined : withQuery(INCIDENT_TEMPLATES_PATH, filters)}
        isOrdered
        olderHref={
          nextAfter && withQuery(INCIDENT_TEMPLATES_PATH, { ...filters, after: nextAfter })
        }
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

/** Values by which templates can be ordered. */
const ORDERS: Readonly<Record<string, (template: TemplateSummary) => string | number | null>> = {
  name: ({ name }) => name,
  title: ({ title }) => title,
  status: ({ status }) => INCIDENT_STATUSES.indexOf(status),
};

function columnsOf(pages: readonly Page[]): DataColumn<TemplateSummary>[] {
  return [
    {
      label: "Template",
      sort: { key: "name", usual: "ascending" },
      cell: ({ id, name, managedBy }) => (
        <>
          <RowLink href={incidentTemplatePath(id)}>{name}</RowLink>
          {managedBy === null ? null : <CellNote>Managed by a file</CellNote>}
        </>
      ),
    },
    {
      label: "Incident name",
      sort: { key: "title" },
      cell: ({ title }) => <OneLine>{title}</OneLine>,
    },
    {
      label: "Page",
      cell({ pageId }) {
        const page = pages.find(({ id }) => id === pageId);
        return <OneLine>{page ? labelAmong(pages, page) : "All pages"}</OneLine>;
      },
    },
    {
      label: "Status",
      sort: { key: "status", kind: "phase" },
      cell: ({ status, components }) => (
        <>
          {INCIDENT_WORDS[status]}
          {components > 0 ? <CellNote>{plural(components, "component")}</CellNote> : null}
        </>
      ),
    },
  ];
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

/** Screen data of the form: the page whose components it shows; null for all pages. */
interface TemplateContext extends PageComponents {
  pages: readonly PageRow[];
  page: PageRow | null;
}

const [FIRST_STATUS] = OPEN_INCIDENT_STATUSES;

/**
 * Form for a new template and for a stored one. The button for the page precedes the main button, so
 * it needs `enter`.
 */
const TEMPLATE_FORM = defineForm<TemplateInput, TemplateContext>()({
  name: textField({
    label: "Template name",
    hint: "Shown on its button. Visitors never see it.",
    maxlength: TEMPLATE_NAME_MAX,
    isRequired: true,
  }),
  page: templatePageField(),
  title: textField({
    label: "Incident name",
    hint: "A short summary for visitors, such as “Checkout fails for some cards”.",
    maxlength: NAME_MAX,
    isRequired: true,
  }),
  components: templateComponentsField(),
  body: messageField({ label: "First message", hint: "Markdown." }),
  status: {
    ...choiceField({
      label: "Status",
      initial: FIRST_STATUS,
      options: OPEN_INCIDENT_STATUSES.map((value) => ({ value, label: INCIDENT_WORDS[value] })),
    }),
    read: (sent: SentForm, name: string) => sent.text(name) || FIRST_STATUS,
  },
  impact_override: nullable(impactField),
});

/** Reads the screen data of a form that shows the components of a page. */
function readFormContext(reader: Reader, slugOrId: string | null | undefined): TemplateContext {
  // The sample page has no templates, since it is deleted with the first page.
  const pages = readPages(reader).filter(({ isSample }) => !isSample);
  const page = pages.find(({ id, slug }) => id === slugOrId || slug === slugOrId) ?? null;
  const none: PageComponents = { components: [], groups: [] };
  return { pages, page, ...(page ? readPageComponents(reader, page.id) : none) };
}

/** Returns the form values of a stored template. */
function storedValues({ row, components }: TemplateRecord) {
  return {
    name: row.name,
    page: row.pageId,
    title: row.title,
    components: Object.fromEntries(components),
    body: row.body,
    status: row.status,
    impact_override: row.impactOverride,
  };
}

const CLONE_PREFIX = "Copy of ";

/** Returns the name of a copy, cut to the maximum length. */
function nameOfClone(name: string): string {
  return [...`${CLONE_PREFIX}${name}`].slice(0, TEMPLATE_NAME_MAX).join("");
}

/**
 * Field for the page of a template, or all pages. A form submitted with another page than it was
 * rendered for is shown again, so that users review that page's components.
 */
function templatePageField(): Field<TypedPage, string | null, TemplateContext> {
  return {
    label: "Page",
    initial: { selected: "", shown: "" },
    read: (sent, name) => ({ selected: sent.text(name), shown: sent.text("shown_page") }),
    toBody({ selected, shown }) {
      if (selected === "") return null;
      return shown !== "" && shown !== selected ? new InvalidInput(OTHER_PAGE) : selected;
    },
    fromStored: (id) => ({ selected: id ?? "", shown: id ?? "" }),
    isPressed: isChoosingPage,
    Input: ({ name, errors, context: { pages, page } }) => (
      <PageSelect
        name={name}
        pages={pages}
        selected={page?.id ?? ""}
        all="All pages"
        error={errors[name]}
      />
    ),
  };
}

/** Field for the statuses of components, with a sentence in its place for all pages. */
function templateComponentsField() {
  const field = componentStatusesField({ unchanged: "Not affected" });
  return {
    ...field,
    Input(props: Parameters<typeof field.Input>[0] & { context: TemplateContext }) {
      const { name, errors, context } = props;
      if (context.components.length > 0 || name in errors) return field.Input(props);
      return (
        <p class="muted">
          {context.page
            ? "The page has no components yet, so the template sets no component statuses."
            : "A template for all pages sets no component statuses."}
        </p>
      );
    },
  };
}
