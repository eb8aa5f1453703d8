/* Tab “Access” of a page: its visibility, and the rules by which visitors see it while it is private. */
import type { ClientAddress } from "../../../base/client-address";
import { plural } from "../../../base/text";
import { toIso } from "../../../base/time";
import { schemaErrors, validate } from "../../../base/validation";
import { actorOf, sessionOf } from "../../../http/request-context";
import { isOwnHost, visitorAddress } from "../../../http/visitor";
import { CodeBlock, Notice, Secret } from "../../../ui/blocks";
import { Button, ButtonLink, PostButton } from "../../../ui/buttons";
import { DetailCard } from "../../../ui/detail";
import { Actions, Form, TextArea } from "../../../ui/form";
import { FormFields, nameField, passwordField } from "../../../ui/forms/fields";
import { defineForm, type Field, type StateOf } from "../../../ui/forms/form";
import type { Reveal } from "../../../ui/frame/changes";
import type { AdminDependencies } from "../../../ui/frame/dependencies";
import { pagePath, PAGES_PATH } from "../../../ui/frame/paths";
import { crumbsTo } from "../../../ui/frame/places";
import type { Screen } from "../../../ui/frame/render";
import { type DataColumn, DataTable, OneLine } from "../../../ui/list";
import { PageHead } from "../../../ui/navigation";
import type { Area } from "../../../ui/screens/area";
import { shownBefore } from "../../../ui/screens/form-screen";
import { ShowInstead } from "../../../ui/screens/routes";
import { RelativeTime } from "../../../ui/times";
import { KeyExpiry } from "../../keys/screens/detail";
import { expiryField } from "../../keys/screens/forms";
import {
  createPageLink,
  type MadePageLink,
  PageLinkInput,
  pageLinkUrl,
  PageNetworksInput,
  PagePasswordInput,
  revokePageLink,
  setPageNetworks,
  setPagePassword,
} from "../access";
import { findPageLink, listLinksOfPage, type PageLinkRow } from "../access-store";
import { addPageErrors, getPage, updatePage } from "../pages";
import { accessKindsOf, isPageLinkLive } from "../rules";
import type { PageRow } from "../store";
import { PartialPageInput } from "../wire";
import { pageResource, pageVersion, VISIBILITY_FORM } from "./forms";
import { type AtPage, PageFrame, pageTabTitle } from "./settings";

/** Adds the tab, and the forms of its rules. */
export function addPageAccessRoutes(area: Area, deps: AdminDependencies): void {
  const { ctx, passwords, visits, writeAs } = deps;
  const back = ({ params }: AtPage) => accessPath(params.id);

  function accessScreen(at: AtPage, page: PageRow, states: AccessStates = {}): Screen {
    const resource = pageResource(page);
    const hidden = pageVersion(page);
    const forms: Required<AccessStates> = {
      visibility: VISIBILITY_FORM.state(VISIBILITY_FORM.stored(resource), {}, hidden),
      password: PASSWORD_FORM.state(PASSWORD_FORM.initial(), {}),
      networks: NETWORKS_FORM.state(NETWORKS_FORM.stored(page), {}, hidden),
      ...states,
    };
    const access = {
      page,
      forms,
      address: visitorAddress(at.requestContext),
      isHostOwn: isOwnHost(ctx, at.requestContext),
      links: listLinksOfPage(ctx.db, { pageId: page.id }).map((link) => ({
        ...link,
        lastUsedAt: visits.lastUseOf(link.id) ?? link.lastUsedAt,
      })),
      now: ctx.clock.now(),
    };
    const { role } = sessionOf(at.requestContext).user;
    return {
      title: pageTabTitle(page, "access"),
      children: (
        <PageFrame page={page} tab="access" role={role}>
          <Access {...access} />
        </PageFrame>
      ),
    };
  }

  area.editForm("/:id/access", {
    role: "admin",
    form: VISIBILITY_FORM,
    load(reader, { params }) {
      const page = getPage(reader, params.id);
      return { resource: pageResource(page), version: page.version, context: { page } };
    },
    show: (visibility, at) => accessScreen(at, visibility.context.page, { visibility }),
    update(tx, changes, actor, { params }) {
      const body = validate(PartialPageInput, changes, addPageErrors);
      updatePage(ctx, tx, params.id, body, actor);
    },
    done: (at) => ({
      path: back(at),
      text: describeVisibility(getPage(ctx.db, at.params.id)),
    }),
  });

  // Redirects from the earlier address of the tab.
  area.screen("/:id/visibility", (at) => ({ path: back(at) }), { role: "admin" });

  area.screen("/:id/password", (at) => ({ path: back(at) }), { role: "admin" });

  // The password is hashed between reading the form and the transaction, which no helper does.
  area.post(
    "/:id/password",
    async (at) => {
      const page = getPage(ctx.db, at.params.id);
      const values = PASSWORD_FORM.read(at.sent);
      const errors = schemaErrors(PagePasswordInput, values);
      if (errors.length > 0) {
        const password = PASSWORD_FORM.rejected(values, errors, {});
        return area.answer(at, { ...accessScreen(at, page, { password }), status: 422 });
      }
      const hash = await passwords.hash(values.password);
      const actor = actorOf(at.requestContext);
      await writeAs(at.requestContext, (tx) => setPagePassword(ctx, tx, page.id, hash, actor));
      const text =
        page.passwordId === null
          ? "The password was set."
          : "The password was changed. Visitors must enter the new one.";
      return area.redirect(at, { path: back(at), text });
    },
    { role: "admin" },
  );

  area.action("/:id/password/remove", {
    role: "admin",
    run(tx, { params }, actor) {
      const hadPassword = getPage(tx, params.id).passwordId !== null;
      setPagePassword(ctx, tx, params.id, null, actor);
      return hadPassword;
    },
    done: (hadPassword, at) => ({
      path: back(at),
      text: hadPassword ? "The password was removed." : undefined,
    }),
  });

  area.editForm("/:id/networks", {
    role: "admin",
    form: NETWORKS_FORM,
    back,
    load(reader, { params }) {
      const page = getPage(reader, params.id);
      return { resource: page, version: page.version, context: { page } };
    },
    show: (networks, at) => accessScreen(at, networks.context.page, { networks }),
    update(tx, changes, actor, { params }) {
      setPageNetworks(ctx, tx, params.id, validate(PageNetworksInput, changes), actor);
    },
    done: (at) => ({ path: back(at), text: "The networks were changed." }),
  });

  area.secretForm("/:id/links/new", {
    role: "admin",
    form: LINK_FORM,
    load: (reader, { params }) => ({ page: getPage(reader, params.id), now: ctx.clock.now() }),
    show: ({ context: { page } }) => ({
      title: "Create link",
      crumbs: crumbsToAccess(page),
      intro: `Everyone who has the link sees the page “${page.name}”, its feeds, calendar and badges.`,
      button: "Create link",
    }),
    create(tx, body, actor, { params }) {
      const made = createPageLink(ctx, tx, params.id, validate(PageLinkInput, body), actor);
      return { made, subjectId: made.link.id };
    },
    reveal: (reveal, { params }) => revealLink(ctx.baseUrl, getPage(ctx.db, params.id), reveal),
  });

  area.confirmation("/:id/links/:link/revoke", {
    role: "admin",
    show({ params: { id, link } }) {
      getPage(ctx.db, id);
      const found = findPageLink(ctx.db, { pageId: id, id: link });
      if (!found) throw new ShowInstead({ path: accessPath(id) });
      return {
        title: `Revoke “${found.name}”`,
        button: "Revoke link",
        isDanger: true,
        cancelHref: accessPath(id),
        dialog: (
          <p>
            The link stops working at once, also for those who have opened the page with it. This
            cannot be undone.
          </p>
        ),
      };
    },
    run(tx, { params: { id, link } }, actor) {
      const found = findPageLink(tx, { pageId: getPage(tx, id).id, id: link });
      if (found) revokePageLink(ctx, tx, id, link, actor);
      return found?.name;
    },
    done: (name, { params }) => ({
      path: accessPath(params.id),
      text: name === undefined ? undefined : `“${name}” was revoked.`,
    }),
  });
}

/** States of the forms of the tab. A form without a state shows the stored values. */
interface AccessStates {
  visibility?: StateOf<typeof VISIBILITY_FORM>;
  password?: StateOf<typeof PASSWORD_FORM>;
  networks?: StateOf<typeof NETWORKS_FORM>;
}

const PASSWORD_FORM = defineForm<{ password: string }>()({
  password: passwordField({
    label: "New password",
    hint: "8 to 200 characters. A new password ends all visits that began with the one before.",
    autocomplete: "new-password",
  }),
});

const NETWORKS_FORM = defineForm<PageNetworksInput>()({ networks: networksField() });

/** Field for networks, one a line. Commas and white space separate them as well. */
function networksField(): Field<string, string[]> {
  const label = "Networks";
  const networksIn = (typed: string) => typed.split(/[\s,]+/).filter((text) => text !== "");
  return {
    label,
    initial: "",
    read: (sent, name) => sent.text(name),
    toBody: networksIn,
    fromStored: (networks) => networks.join("\n"),
    showError({ pointer, detail }, typed) {
      const index = /^#\/networks\/(\d+)$/.exec(pointer)?.[1];
      if (index === undefined) return { detail: "must be at most 100" };
      return { detail: `“${networksIn(typed)[Number(index)]?.slice(0, 60)}” ${detail}.` };
    },
    Input: ({ name, value, errors }) => (
      <TextArea
        label={label}
        name={name}
        value={value}
        hint="One per line, such as 198.51.100.0/24 or 2001:db8::/32; at most 100. Visitors from these addresses see the page without a password."
        error={errors[name]}
        rows={3}
      />
    ),
  };
}

const LINK_FORM = defineForm<PageLinkInput, { page: PageRow; now: number }>()({
  name: nameField({ hint: "The people who get the link, such as “Northwind support”." }),
  expires: expiryField({
    hint: "A link that never expires works until you revoke it, also for others who get hold of it.",
    lastDay: "Last day on which the link works",
  }),
});

/** Returns the path of the tab. */
function accessPath(pageId: string): string {
  return pagePath(pageId, "access");
}

function crumbsToAccess(page: PageRow) {
  return [
    ...crumbsTo(PAGES_PATH),
    { href: pagePath(page.id), label: page.name },
    { href: accessPath(page.id), label: "Access" },
  ];
}

function describeVisibility(page: PageRow): string {
  if (page.visibility === "public") return "The page is now public. Everyone can see it.";
  return accessKindsOf(page).length === 0
    ? "The page is now private. Only signed-in users can see it."
    : "The page is now private. Only signed-in users and visitors by its rules can see it.";
}

interface AccessProps {
  page: PageRow;
  forms: Required<AccessStates>;
  /** Address from which the screen is open. */
  address: ClientAddress;
  /** True if networks count at the host at which the screen is open. */
  isHostOwn: boolean;
  links: readonly PageLinkRow[];
  /** Unix ms. */
  now: number;
}

/** Forms for a page's visibility and for the rules of a private page, and the button that makes it the default page. */
function Access({ page, forms, address, isHostOwn, links, now }: AccessProps) {
  const { visibility, password, networks } = forms;
  return (
    <>
      <DetailCard title="Visibility" liveId="page-visibility" isStill>
        <Form action={accessPath(page.id)} hidden={visibility.hidden}>
          <FormFields form={VISIBILITY_FORM} state={visibility} />
          <p class="muted">{effectOfRules(page)}</p>
          <Actions>
            <Button>Save visibility</Button>
          </Actions>
        </Form>
      </DetailCard>
      <DetailCard
        title="Password"
        liveId="page-password"
        isStill
        end={
          page.passwordId === null ? null : (
            <PostButton action={pagePath(page.id, "password", "remove")} kind="danger">
              Remove password
            </PostButton>
          )
        }
      >
        <Form action={pagePath(page.id, "password")}>
          <FormFields form={PASSWORD_FORM} state={password}>
            <p class="muted">
              {page.passwordId === null
                ? "The page has no password."
                : "Visitors who enter the password see the page for 30 days."}
            </p>
          </FormFields>
          <Actions>
            <Button>{page.passwordId === null ? "Set password" : "Change password"}</Button>
          </Actions>
        </Form>
      </DetailCard>
      <DetailCard title="Networks" liveId="page-networks" isStill>
        <Form action={pagePath(page.id, "networks")} hidden={networks.hidden}>
          <FormFields form={NETWORKS_FORM} state={networks}>
            <SeenAddress address={address} />
            {isHostOwn ? null : (
              <Notice tone="degraded" title="Networks do not count at this host name">
                They count at the public address, at custom domains, and at addresses and names of
                your local network. The public address is set in Settings, under General.
              </Notice>
            )}
          </FormFields>
          <Actions>
            <Button>Save networks</Button>
          </Actions>
        </Form>
      </DetailCard>
      <Links page={page} links={links} now={now} />
      <DetailCard title="Default page" liveId="page-default" isStill>
        <p>
          The default page is at <code>/</code> and <code>/api/v2/</code>.{" "}
          {page.isDefault
            ? "This page is the default page. To change that, make another page the default."
            : "This page is not the default page."}
        </p>
        {page.isDefault ? null : (
          <div class="actions">
            <PostButton action={pagePath(page.id, "default")}>
              Make this page the default
            </PostButton>
          </div>
        )}
      </DetailCard>
    </>
  );
}

/** Says whom the rules below admit now. */
function effectOfRules(page: PageRow): string {
  if (page.visibility === "public") {
    return "While the page is public, everyone sees it, and the rules below have no effect.";
  }
  return accessKindsOf(page).length === 0
    ? "No rule below admits visitors, so only signed-in users see the page."
    : "Visitors see the page by any one of the rules below.";
}

/** Address from which the screen is open, as the rules for networks would see it. */
function SeenAddress({ address: { ip, isDoubtful } }: { address: ClientAddress }) {
  if (!isDoubtful) {
    return (
      <p class="muted">
        Your address, as Allclear sees it now: <code>{ip}</code>
      </p>
    );
  }
  return (
    <Notice tone="degraded" title="Your request may have come through a proxy that is not trusted">
      Networks do not admit such requests. If <code>{ip}</code> is your reverse proxy, add it to{" "}
      <code>ALLCLEAR_TRUSTED_PROXIES</code>, and let it send <code>X-Forwarded-For</code>.
    </Notice>
  );
}

interface LinksProps {
  page: PageRow;
  links: readonly PageLinkRow[];
  /** Unix ms. */
  now: number;
}

/** Links of a page, newest first. */
function Links({ page, links, now }: LinksProps) {
  const isEmpty = links.length === 0;
  return (
    <DetailCard
      title="Links"
      liveId="page-links"
      count={isEmpty ? undefined : plural(links.length, "link")}
      isTable={!isEmpty}
      end={<ButtonLink href={pagePath(page.id, "links", "new")}>Create link</ButtonLink>}
    >
      {isEmpty ? (
        <p class="muted">
          A link opens the page without a password, and its feeds, calendar and badges in programs.
          Each link has a name and can be revoked by itself.
        </p>
      ) : (
        <DataTable
          caption="Links to the page"
          isInCard
          columns={linkColumns(page, now)}
          entries={links}
          isOver={(link) => !isPageLinkLive(link, now)}
        />
      )}
    </DetailCard>
  );
}

function linkColumns(page: PageRow, now: number): DataColumn<PageLinkRow>[] {
  return [
    { label: "Name", cell: ({ name }) => <bdi>{name}</bdi> },
    {
      label: "Created",
      cell: ({ createdAt }) => <RelativeTime at={toIso(createdAt)} now={now} />,
    },
    {
      label: "Expires",
      cell(link) {
        if (link.expiresAt === null) return <span class="quiet-text">Never</span>;
        const day = <KeyExpiry at={toIso(link.expiresAt)} />;
        return isPageLinkLive(link, now) ? (
          <OneLine>{day}</OneLine>
        ) : (
          <span class="quiet-text">
            <OneLine>Expired {day}</OneLine>
          </span>
        );
      },
    },
    {
      label: "Last used",
      cell: ({ lastUsedAt }) =>
        lastUsedAt === null ? (
          <span class="quiet-text">Never</span>
        ) : (
          <RelativeTime at={toIso(lastUsedAt)} now={now} />
        ),
    },
    {
      label: "Actions",
      isHidden: true,
      cell: ({ id, name }) => (
        <ButtonLink href={pagePath(page.id, "links", id, "revoke")} dialog>
          Revoke<span class="visually-hidden"> {name}</span>
        </ButtonLink>
      ),
    },
  ];
}

/** Returns the screen that shows a new link once. */
function revealLink(baseUrl: string, page: PageRow, reveal: Reveal<MadePageLink>): Screen {
  if ("shownBefore" in reveal) {
    return shownBefore({
      secret: "link",
      ifLost: "revoke it and create another",
      object: { href: accessPath(page.id), label: "Open Access" },
      list: PAGES_PATH,
    });
  }
  const { link, token } = reveal.revealed;
  const url = pageLinkUrl(baseUrl, page, token);
  const title = "Your new link";
  return {
    title,
    isSecret: true,
    children: (
      <>
        <PageHead title={title} crumbs={crumbsToAccess(page)}>
          <bdi>{link.name}</bdi>
        </PageHead>
        <section class="card reveal" aria-labelledby="revealed">
          <Notice tone="degraded">
            <strong>Copy the link now.</strong> The link is shown only this once, since Allclear
            stores only a hash of it. Everyone who has it sees the page.
          </Notice>
          <div class="field">
            <h2 class="label" id="revealed">
              Link
            </h2>
            <Secret text={url} copyLabel="Copy link" />
          </div>
          <div class="field">
            <h2 class="label">Atom feed</h2>
            <CodeBlock text={`${url}/feed.atom`} copyLabel="Copy address" isSecret />
          </div>
          <div class="field">
            <h2 class="label">Calendar of maintenance</h2>
            <CodeBlock text={`${url}/calendar.ics`} copyLabel="Copy address" isSecret />
          </div>
          <div class="actions">
            <ButtonLink href={accessPath(page.id)}>I have stored it</ButtonLink>
          </div>
        </section>
        {page.visibility === "public" ? (
          <p class="muted">The page is public now, so everyone sees it without the link.</p>
        ) : null}
      </>
    ),
  };
}
