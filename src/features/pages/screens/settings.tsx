/* Screens of one page: the routes of its tabs, then what each shows, then their frame. `access.tsx` and `look.tsx` have one tab each. */
import type { ComponentChildren } from "preact";
import { type Actor, type Role, roleAllows } from "../../../base/actor";
import { type FieldError, invalidFields } from "../../../base/errors";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { validate } from "../../../base/validation";
import type { Reader, Tx } from "../../../db/statements";
import { sessionOf } from "../../../http/request-context";
import { Card, Chip, Chips, Facts, Notice } from "../../../ui/blocks";
import { Button, ButtonLink } from "../../../ui/buttons";
import { DetailCard, MoreMenu } from "../../../ui/detail";
import { Actions, Form } from "../../../ui/form";
import {
  checkboxField,
  choiceField,
  FormFields,
  textAreaField,
  textField,
} from "../../../ui/forms/fields";
import { defineForm, nullable, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { componentsOfPagePath, MAIL_PATH, pagePath, PAGES_PATH } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import type { Screen, ScreenRequest } from "../../../ui/frame/render";
import { Icon } from "../../../ui/icons";
import { Cell, Row, Table } from "../../../ui/list";
import { PageHead, Tabs } from "../../../ui/navigation";
import { Logo, Swatch } from "../../../ui/pictures";
import type { Area } from "../../../ui/screens/area";
import { Day, RelativeTime } from "../../../ui/times";
import { ReportLink } from "../../incidents/screens/list";
import { mailReadiness } from "../../mail/settings";
import { subscribersOfPagePath } from "../../subscribers/screens/list";
import { faviconPath, hostNameOf, logoPath, logoSize, pageUrl, toDomain } from "../addresses";
import { MAIL_FOOTER_MAX, mailSettingsOf, PageMailInput } from "../mail";
import {
  addPageErrors,
  getPage,
  listOldSlugs,
  type OldSlug,
  updatePage,
  updatePageMail,
} from "../pages";
import { accessKindsOf } from "../rules";
import { findPageBySlug, type PageRow } from "../store";
import { type PageInput, PartialPageInput } from "../wire";
import {
  COMPAT_FORM,
  DOMAINS_FORM,
  GENERAL_FORM,
  pageResource,
  pageVersion,
  REPORT_OPTIONS,
  SLUG_FORM,
  THEME_OPTIONS,
  languageName,
} from "./forms";
import { Share } from "./share";

/** Adds the screens of one page: its facts for every role, and its settings for admins. */
export function addPageSettingRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx } = deps;
  const backTo =
    (tab: PageTab) =>
    ({ params }: AtPage) =>
      pagePath(params.id, tab);

  function load(reader: Reader, { params }: AtPage) {
    const page = getPage(reader, params.id);
    return { resource: pageResource(page), version: page.version, context: { page } };
  }

  function update(tx: Tx, changes: Partial<PageInput>, actor: Actor, { params }: AtPage): void {
    const body = validate(PartialPageInput, changes, addPageErrors);
    updatePage(ctx, tx, params.id, body, actor);
  }

  const edit = { load, update, role: "admin" } as const;

  function tabScreen(
    at: AtPage,
    page: PageRow,
    tab: PageTab,
    children: Screen["children"],
  ): Screen {
    const { role } = sessionOf(at.requestContext).user;
    return {
      title: pageTabTitle(page, tab),
      children: (
        <PageFrame page={page} tab={tab} role={role}>
          {children}
        </PageFrame>
      ),
    };
  }

  function addressScreen(at: AtPage, page: PageRow, states: AddressStates): Screen {
    const resource = pageResource(page);
    const hidden = pageVersion(page);
    const { slug = SLUG_FORM.state(SLUG_FORM.stored(resource), {}, hidden) } = states;
    const { domains = DOMAINS_FORM.state(DOMAINS_FORM.stored(resource), {}, hidden) } = states;
    const oldSlugs = listOldSlugs(ctx.db, page);
    return tabScreen(at, page, "address", <Address {...{ page, oldSlugs, slug, domains }} />);
  }

  function shareScreen(at: AtPage, page: PageRow, state?: StateOf<typeof COMPAT_FORM>): Screen {
    const canManage = roleAllows(sessionOf(at.requestContext).user.role, "admin");
    const compat =
      state ?? COMPAT_FORM.state(COMPAT_FORM.stored(pageResource(page)), {}, pageVersion(page));
    const share = { page, url: pageUrl(ctx.baseUrl, page), canManage, compat };
    return tabScreen(at, page, "share", <Share {...share} />);
  }

  area.screen("/:id", (at) => {
    const page = getPage(ctx.db, at.params.id);
    const facts = { page, oldSlugs: listOldSlugs(ctx.db, page), now: ctx.clock.now() };
    return tabScreen(at, page, "overview", <PageFacts {...facts} />);
  });

  area.screen("/:id/share", (at) => shareScreen(at, getPage(ctx.db, at.params.id)));

  area.editForm("/:id/compat", {
    ...edit,
    form: COMPAT_FORM,
    back: backTo("share"),
    show: (state, at) => shareScreen(at, state.context.page, state),
    done: (at) => ({ path: backTo("share")(at), text: "The clients were changed." }),
  });

  area.editForm("/:id/general", {
    ...edit,
    form: GENERAL_FORM,
    show: (state, at) =>
      tabScreen(
        at,
        state.context.page,
        "general",
        <General page={state.context.page} state={state} />,
      ),
    done: (at) => ({ path: backTo("general")(at), text: "The page was changed." }),
  });

  area.editForm("/:id/address", {
    ...edit,
    form: SLUG_FORM,
    show: (slug, at) => addressScreen(at, slug.context.page, { slug }),
    update(tx, changes, actor, at) {
      const taken = takenSlugErrors(tx, changes.slug ?? "", at.params.id);
      if (taken.length > 0) throw invalidFields(taken);
      update(tx, changes, actor, at);
    },
    done: (at) => ({
      path: backTo("address")(at),
      text: "The slug was changed. The earlier address redirects to the new one.",
    }),
  });

  area.editForm("/:id/domains", {
    ...edit,
    form: DOMAINS_FORM,
    back: backTo("address"),
    conflictField: "custom_domains",
    show: (domains, at) => addressScreen(at, domains.context.page, { domains }),
    update(tx, changes, actor, at) {
      update(tx, changes, actor, at);
      const errors = ownHostErrors(changes.custom_domains ?? [], at.request.url);
      if (errors.length > 0) throw invalidFields(errors);
    },
    done: (at) => ({ path: backTo("address")(at), text: "The custom domains were changed." }),
  });

  addPageMailRoutes(area, deps);
}

/** Request of a screen of one page. */
export interface AtPage extends ScreenRequest {
  params: { id: string };
}

/** States of the forms of one screen. A form without a state shows the stored values. */
interface AddressStates {
  slug?: StateOf<typeof SLUG_FORM>;
  domains?: StateOf<typeof DOMAINS_FORM>;
}

/** Form for a page's name, description, time zone and other general settings. */
function General({ page, state }: { page: PageRow; state: StateOf<typeof GENERAL_FORM> }) {
  return (
    <DetailCard title="General" liveId="page-general" isStill>
      <Form action={pagePath(page.id, "general")} hidden={state.hidden}>
        <FormFields form={GENERAL_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/** Forms for a page's slug, former slugs and custom domains. */
function Address(props: {
  page: PageRow;
  oldSlugs: readonly OldSlug[];
  slug: StateOf<typeof SLUG_FORM>;
  domains: StateOf<typeof DOMAINS_FORM>;
}) {
  const { page, oldSlugs, slug, domains } = props;
  return (
    <>
      <DetailCard title="Address" liveId="page-slug" isStill>
        <Form action={pagePath(page.id, "address")} hidden={slug.hidden}>
          <FormFields form={SLUG_FORM} state={slug} />
          <p class="muted">
            After a change, the current slug works until you release it:{" "}
            <code>/status/{page.slug}</code> redirects to the new address, and API requests with
            this slug still work.
          </p>
          <Actions>
            <Button>Change slug</Button>
          </Actions>
        </Form>
      </DetailCard>
      {oldSlugs.length > 0 ? <EarlierSlugs page={page} oldSlugs={oldSlugs} /> : null}
      <DetailCard title="Custom domains" liveId="page-domains" isStill>
        <Form action={`${pagePath(page.id)}/domains`} hidden={domains.hidden}>
          <FormFields form={DOMAINS_FORM} state={domains} />
          <Actions>
            <Button>Save domains</Button>
          </Actions>
        </Form>
      </DetailCard>
    </>
  );
}

const COLUMNS = [
  { label: "Earlier address" },
  { label: "Since" },
  { label: "Release", isHidden: true },
];

function EarlierSlugs({ page, oldSlugs }: { page: PageRow; oldSlugs: readonly OldSlug[] }) {
  return (
    <DetailCard title="Earlier addresses" liveId="page-slugs" isTable>
      <Table columns={COLUMNS} caption="Earlier addresses of the page" isInCard>
        {oldSlugs.map(({ slug, createdAt }) => (
          <Row key={slug}>
            <Cell>
              <code>/status/{slug}</code>
            </Cell>
            <Cell label="Since">
              <Day at={toIso(createdAt)} />
            </Cell>
            <Cell>
              <ButtonLink href={pagePath(page.id, "slugs", slug, "release")} dialog>
                Release
              </ButtonLink>
            </Cell>
          </Row>
        ))}
      </Table>
    </DetailCard>
  );
}

interface PageFactsProps {
  page: PageRow;
  oldSlugs: readonly OldSlug[];
  /** Unix ms. */
  now: number;
}

const NONE = <span class="quiet-text">None</span>;

/** Settings of a page, read-only, for every role. */
function PageFacts({ page, oldSlugs, now }: PageFactsProps) {
  const theme = THEME_OPTIONS.find(({ value }) => value === page.theme)?.label;
  return (
    <Card>
      <Facts
        items={[
          { label: "Address", value: <code>/status/{page.slug}</code> },
          { label: "Kind", value: <PageChips page={page} /> },
          { label: "Visitors", value: describeVisitors(page) },
          { label: "Custom domains", value: page.customDomains.join(", ") || NONE },
          {
            label: "Earlier addresses",
            value: oldSlugs.map(({ slug }) => `/status/${slug}`).join(", ") || NONE,
          },
          { label: "Description", value: <bdi>{page.description ?? NONE}</bdi>, isWide: true },
          { label: "Time zone", value: page.timeZone },
          { label: "Language", value: page.locale },
          {
            label: "Further languages",
            value: page.languages.map(languageName).join(", ") || NONE,
          },
          { label: "Days of history", value: page.historyDays },
          {
            label: "Outages join",
            value:
              page.joinMinutes === 0 ? "Never" : `Within ${plural(page.joinMinutes, "minute")}`,
          },
          {
            label: "Monthly report",
            value: REPORT_OPTIONS.find(({ value }) => value === page.report)?.label ?? NONE,
          },
          { label: "Theme", value: theme },
          { label: "Accent colour", value: page.accent ? <Swatch colour={page.accent} /> : NONE },
          {
            label: "Logo",
            value: page.logo === null ? NONE : <PagePicture page={page} path={logoPath(page)} />,
          },
          {
            label: "Favicon",
            value:
              page.favicon === null ? NONE : <PagePicture page={page} path={faviconPath(page)} />,
          },
          { label: "Created", value: <RelativeTime at={toIso(page.createdAt)} now={now} /> },
          {
            label: "Settings changed",
            value: <RelativeTime at={toIso(page.updatedAt)} now={now} />,
          },
          { label: "Id", value: <code>{page.id}</code>, isWide: true },
        ]}
      />
    </Card>
  );
}

/** Says who sees a page besides users who are signed in. */
function describeVisitors(page: PageRow): ComponentChildren {
  if (page.visibility === "public") return "Everyone";
  const kinds = accessKindsOf(page);
  return kinds.length === 0 ? NONE : `By ${kinds.join(", ")}`;
}

/** Picture of a page by its path; renders nothing without one. */
export function PagePicture({ page, path }: { page: PageRow; path: string | null }) {
  return path === null ? null : <Logo src={path} alt={page.name} {...logoSize(path)} />;
}

const MAIL_FORM = defineForm<PageMailInput, { page: PageRow }>()({
  subscriptions: checkboxField({
    label: "Visitors can subscribe by e-mail",
    hint: "The subscribe page then has a form. If unchecked, people who subscribed still get messages.",
  }),
  from_name: nullable(
    textField({
      label: "Name of the sender",
      maxlength: 255,
      hint: "Optional. By default the name of the page.",
    }),
  ),
  reply_to: nullable(
    textField({
      label: "Address for replies",
      type: "email",
      hint: "Optional. By default the one of the relay’s settings.",
    }),
  ),
  subject: choiceField<NonNullable<PageMailInput["subject"]>>({
    label: "Subject",
    initial: "thread",
    options: [
      {
        value: "thread",
        label: "Name of the incident",
        hint: "Mail programs show all messages about an incident as one conversation.",
      },
      {
        value: "status",
        label: "Status and name of the incident",
        hint: "The list of messages shows each status, and each message stands alone.",
      },
    ],
  }),
  footer: nullable(
    textAreaField({
      label: "Text at the end",
      rows: 3,
      maxlength: MAIL_FOOTER_MAX,
      hint: "Optional. Plain text at the end of every message, such as a postal address.",
    }),
  ),
});

/** Adds the screen with a page's settings about e-mail. */
function addPageMailRoutes(area: Area, { ctx }: AdminDependencies): void {
  area.editForm("/:id/mail", {
    role: "admin",
    form: MAIL_FORM,
    load(reader, { params }: { params: { id: string } }) {
      const page = getPage(reader, params.id);
      return { resource: mailSettingsOf(page), version: page.version, context: { page } };
    },
    update(tx, changes, actor, { params }) {
      updatePageMail(ctx, tx, params.id, validate(PageMailInput, changes), actor);
    },
    show(state, { requestContext }) {
      const { page } = state.context;
      const { role } = sessionOf(requestContext).user;
      return {
        title: pageTabTitle(page, "mail"),
        children: (
          <PageFrame page={page} tab="mail" role={role}>
            {mailReadiness(ctx).ready ? null : <NotReady canSetUp={roleAllows(role, "owner")} />}
            <MailSettings page={page} state={state} />
          </PageFrame>
        ),
      };
    },
    done: ({ params }) => ({
      path: pagePath(params.id, "mail"),
      text: "The settings about e-mail were changed.",
    }),
  });
}

/** Notice while no mail can be sent. */
function NotReady({ canSetUp }: { canSetUp: boolean }) {
  return (
    <Notice tone="maint" title="E-mail is not set up">
      Visitors see no form, and no messages are sent.{" "}
      {canSetUp ? <a href={MAIL_PATH}>Set up e-mail</a> : "An owner can set it up."}
    </Notice>
  );
}

/** Form for the messages of a page by e-mail. */
function MailSettings({ page, state }: { page: PageRow; state: StateOf<typeof MAIL_FORM> }) {
  return (
    <DetailCard
      title="E-mail"
      liveId="page-mail"
      isStill
      end={<a href={subscribersOfPagePath(page.slug)}>Subscribers</a>}
    >
      <Form action={pagePath(page.id, "mail")} hidden={state.hidden}>
        <FormFields form={MAIL_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/** Labels of a page: its visibility, and "Default" or "Sample". */
export function PageChips({ page }: { page: PageRow }) {
  return (
    <Chips>
      <Chip>{page.visibility === "public" ? "Public" : "Private"}</Chip>
      {page.isDefault ? <Chip>Default</Chip> : null}
      {page.isSample ? <Chip tone="maint">Sample</Chip> : null}
    </Chips>
  );
}

/** Screens of one page, each with its own path. */
const TABS = {
  overview: { label: "Overview", path: "" },
  general: { label: "General", path: "/general" },
  look: { label: "Appearance", path: "/look" },
  address: { label: "Address", path: "/address" },
  mail: { label: "E-mail", path: "/mail" },
  access: { label: "Access", path: "/access" },
  share: { label: "Share", path: "/share" },
} as const;

/** Screens for every role. The others require the role admin. */
const READABLE: readonly string[] = ["overview", "share"];

type PageTab = keyof typeof TABS;

/** Returns the title of a page's screen. */
export function pageTabTitle(page: PageRow, tab: PageTab): string {
  return tab === "overview" ? page.name : `${TABS[tab].label} of ${page.name}`;
}

interface FrameProps {
  page: PageRow;
  tab: PageTab;
  role: Role;
  children: ComponentChildren;
}

/** Heading, actions and tabs shared by the screens of one page. */
export function PageFrame({ page, tab, role, children }: FrameProps) {
  const canManage = roleAllows(role, "admin");
  return (
    <>
      <PageHead
        title={page.name}
        crumbs={crumbsTo(PAGES_PATH)}
        actions={
          <>
            <ButtonLink href={`/status/${page.slug}`} opensTab>
              <Icon name="external-link" />
              View page
            </ButtonLink>
            <ButtonLink href={componentsOfPagePath(page.slug)}>
              <Icon name="blocks" />
              Components
            </ButtonLink>
            {roleAllows(role, "editor") ? <ReportLink page={page.slug} /> : null}
            {canManage ? (
              <MoreMenu label="More actions">
                <ButtonLink href={`${pagePath(page.id)}/delete`} kind="danger" dialog>
                  Delete
                </ButtonLink>
              </MoreMenu>
            ) : null}
          </>
        }
      />
      <Tabs
        label="This page"
        items={Object.entries(TABS)
          .filter(([name]) => canManage || READABLE.includes(name))
          .map(([name, { label, path }]) => ({
            href: pagePath(page.id) + path,
            label,
            isCurrent: name === tab,
          }))}
      />
      <Origin page={page} isForm={!READABLE.includes(tab)} />
      {children}
    </>
  );
}

/** Notice on the sample page, and on forms of pages that a configuration file manages. */
function Origin({ page, isForm }: { page: PageRow; isForm: boolean }) {
  if (page.isSample) {
    return (
      <Notice tone="maint" title="This is the sample page">
        An example of a status page. When you create your first page, the sample page is deleted.
      </Notice>
    );
  }
  if (page.managedBy === "apply" && isForm) {
    return (
      <Notice tone="maint" title="Managed by a configuration file">
        The next <code>allclear apply</code> resets the settings that the file contains. To keep a
        change, make it in the file.
      </Notice>
    );
  }
  return null;
}

/** Returns an error that names the page which holds a slug; none for a free slug. */
export function takenSlugErrors(reader: Reader, slug: string, pageId?: string): FieldError[] {
  const holder = findPageBySlug(reader, { slug });
  // The sample page gives its slug up to the first own page.
  if (!holder || holder.id === pageId || holder.isSample) return [];
  const detail =
    holder.slug === slug
      ? `is taken by the page “${holder.name}”`
      : `is an earlier slug of the page “${holder.name}”, which must release it first`;
  return [{ pointer: "#/slug", detail }];
}

/**
 * Rejects the host under which the dashboard is open. As a custom domain it would serve no
 * dashboard, so the user could not undo the change.
 */
function ownHostErrors(domains: readonly string[], dashboardUrl: string): FieldError[] {
  const own = hostNameOf(dashboardUrl);
  return domains.flatMap((text, index) => {
    const detail = "is the host of this dashboard, which cannot be a custom domain";
    return toDomain(text) === own ? [{ pointer: `#/custom_domains/${index}`, detail }] : [];
  });
}
