import { roleAllows } from "../../../base/actor";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { validate } from "../../../base/validation";
import { sessionOf } from "../../../http/request-context";
import { Card, Facts, Notice } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { Actions, DialogForm, Form } from "../../../ui/form";
import {
  checkboxField,
  choiceField,
  FormFields,
  textAreaField,
  textField,
} from "../../../ui/forms/fields";
import { defineForm, nullable, type StateOf } from "../../../ui/forms/form";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { MAIL_PATH, pagePath } from "../../../ui/frame/paths";
import { Cell, Row, Table } from "../../../ui/list";
import { Logo, Swatch } from "../../../ui/pictures";
import type { Area } from "../../../ui/screens/area";
import { RecreatedByFile } from "../../../ui/screens/form-screen";
import { Day, RelativeTime } from "../../../ui/times";
import { mailReadiness } from "../../mail/settings";
import type { Belongings } from "../../page-deletion/delete";
import { subscribersOfPagePath } from "../../subscribers/screens/list";
import { logoPath, logoSize } from "../addresses";
import { MAIL_FOOTER_MAX, mailSettingsOf, PageMailInput } from "../mail";
import { getPage, type OldSlug, updatePageMail } from "../pages";
import type { PageRow } from "../store";
import {
  DELETE_FORM,
  DOMAINS_FORM,
  GENERAL_FORM,
  LOGO_FORM,
  LOOK_FORM,
  SLUG_FORM,
  THEME_OPTIONS,
  VISIBILITY_FORM,
} from "./forms";
import { PageChips, PageFrame, pageTabPath, pageTabTitle } from "./list";

/** Form for a page's name, description, time zone and other general settings. */
export function General({ page, state }: { page: PageRow; state: StateOf<typeof GENERAL_FORM> }) {
  return (
    <DetailCard title="General" liveId="page-general" isStill>
      <Form action={pageTabPath(page.id, "general")} hidden={state.hidden}>
        <FormFields form={GENERAL_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}

/**
 * Forms for a page's theme, accent colour and logo. The logo has its own form, saved on submission.
 */
export function Look(props: {
  page: PageRow;
  look: StateOf<typeof LOOK_FORM>;
  logo: StateOf<typeof LOGO_FORM>;
}) {
  const { page, look, logo } = props;
  const action = `${pagePath(page.id)}/logo`;
  return (
    <>
      <DetailCard title="Theme and colour" liveId="page-look" isStill>
        <Form action={pageTabPath(page.id, "look")} hidden={look.hidden}>
          <FormFields form={LOOK_FORM} state={look} />
          <Actions>
            <Button>Save appearance</Button>
          </Actions>
        </Form>
      </DetailCard>
      <DetailCard
        title="Page logo"
        liveId="page-logo"
        isStill
        end={
          page.logo === null ? null : (
            <PostButton action={`${action}/remove`} kind="danger">
              Remove logo
            </PostButton>
          )
        }
      >
        <PageLogo page={page} />
        <Form action={action} hidden={logo.hidden} sendsFiles>
          <FormFields form={LOGO_FORM} state={logo} />
          <Actions>
            <Button>{page.logo === null ? "Upload logo" : "Replace logo"}</Button>
          </Actions>
        </Form>
      </DetailCard>
    </>
  );
}

/** Forms for a page's slug, former slugs and custom domains. */
export function Address(props: {
  page: PageRow;
  oldSlugs: readonly OldSlug[];
  slug: StateOf<typeof SLUG_FORM>;
  domains: StateOf<typeof DOMAINS_FORM>;
}) {
  const { page, oldSlugs, slug, domains } = props;
  return (
    <>
      <DetailCard title="Address" liveId="page-slug" isStill>
        <Form action={pageTabPath(page.id, "address")} hidden={slug.hidden}>
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

/** Forms for a page's visibility and for making it the default page. */
export function Visibility({
  page,
  state,
}: {
  page: PageRow;
  state: StateOf<typeof VISIBILITY_FORM>;
}) {
  return (
    <>
      <DetailCard title="Access" liveId="page-visibility" isStill>
        <Form action={pageTabPath(page.id, "visibility")} hidden={state.hidden}>
          <FormFields form={VISIBILITY_FORM} state={state} />
          <Actions>
            <Button>Save visibility</Button>
          </Actions>
        </Form>
      </DetailCard>
      <DetailCard title="Default page" liveId="page-default" isStill>
        <p>
          The default page is at <code>/</code> and <code>/api/v2/</code>.{" "}
          {page.isDefault
            ? "This page is the default page. To change that, make another page the default."
            : "This page is not the default page."}
        </p>
        {page.isDefault ? null : (
          <div class="actions">
            <PostButton action={`${pagePath(page.id)}/default`}>
              Make this page the default
            </PostButton>
          </div>
        )}
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
export function PageFacts({ page, oldSlugs, now }: PageFactsProps) {
  const theme = THEME_OPTIONS.find(({ value }) => value === page.theme)?.label;
  return (
    <Card>
      <Facts
        items={[
          { label: "Address", value: <code>/status/{page.slug}</code> },
          { label: "Kind", value: <PageChips page={page} /> },
          { label: "Custom domains", value: page.customDomains.join(", ") || NONE },
          {
            label: "Earlier addresses",
            value: oldSlugs.map(({ slug }) => `/status/${slug}`).join(", ") || NONE,
          },
          { label: "Description", value: page.description ?? NONE, isWide: true },
          { label: "Time zone", value: page.timeZone },
          { label: "Language", value: page.locale },
          { label: "Days of history", value: page.historyDays },
          {
            label: "Outages join",
            value:
              page.joinMinutes === 0 ? "Never" : `Within ${plural(page.joinMinutes, "minute")}`,
          },
          { label: "Theme", value: theme },
          { label: "Accent colour", value: page.accent ? <Swatch colour={page.accent} /> : NONE },
          { label: "Logo", value: page.logo === null ? NONE : <PageLogo page={page} /> },
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

/** Logo of a page; renders nothing without one. */
function PageLogo({ page }: { page: PageRow }) {
  const path = logoPath(page);
  return path === null ? null : <Logo src={path} alt={page.name} {...logoSize(path)} />;
}

/** Asks before a page is deleted. The user must type the slug, which prevents mistakes. */
export function DeletePage(props: {
  title: string;
  page: PageRow;
  belongings: Belongings;
  /** Page that becomes the default page instead; undefined if there is no other. */
  heir: PageRow | undefined;
  state: StateOf<typeof DELETE_FORM>;
}) {
  const { title, page, belongings, heir, state } = props;
  const consequences = consequencesOf(belongings);
  return (
    <DialogForm
      title={title}
      action={pagePath(page.id, "delete")}
      hidden={state.hidden}
      button="Delete page"
      isDanger
      cancelHref={pagePath(page.id)}
    >
      <p>
        The page is deleted with its components, incidents, maintenance, feeds and badges. Links to
        them will get “not found”. Other pages can use its slugs. This cannot be undone.
      </p>
      {consequences.length === 0 ? null : (
        <>
          <p>Also affected:</p>
          <ul class="plain-list">
            {consequences.map((consequence) => (
              <li key={consequence}>{consequence}</li>
            ))}
          </ul>
        </>
      )}
      {page.isDefault ? (
        <p>
          This is the default page.{" "}
          {heir
            ? `“${heir.name}” becomes the default page.${heir.visibility === "public" ? "" : " It is private, so visitors see no page at /."}`
            : "There is no other page, so visitors see no page at /."}
        </p>
      ) : null}
      {page.managedBy === "apply" ? <RecreatedByFile what="page" /> : null}
      <FormFields form={DELETE_FORM} state={state} />
    </DialogForm>
  );
}

/** Returns one line for each kind of object that ends with a page, with its count; empty if nothing does. */
function consequencesOf(belongings: Belongings): string[] {
  const { openIncidents, pendingMaintenance, idleMonitors } = belongings;
  const { webhooks, templates, schedules } = belongings;
  const counts: [what: string, count: number, outcome: string][] = [
    ["Planned maintenance", pendingMaintenance, "cancelled"],
    ["Maintenance schedules", schedules.length, "deleted"],
    ["Open incidents", openIncidents, "deleted"],
    ["Monitors without another page", idleMonitors.length, "paused"],
    ["Webhooks for this page only", webhooks.length, "deleted"],
    ["Incident templates for this page only", templates.length, "deleted"],
  ];
  return counts
    .filter(([, count]) => count > 0)
    .map(([what, count, outcome]) => `${what}: ${count.toLocaleString("en")} (${outcome})`);
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
export function addPageMailRoutes(area: Area, { ctx }: AdminDependencies): void {
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
      path: pageTabPath(params.id, "mail"),
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
      <Form action={pageTabPath(page.id, "mail")} hidden={state.hidden}>
        <FormFields form={MAIL_FORM} state={state} />
        <Actions>
          <Button kind="primary">Save changes</Button>
        </Actions>
      </Form>
    </DetailCard>
  );
}
