import { listAllPages } from "../../../src/features/pages/store";
import { asUpload } from "../multipart";
import { createPageAccess, PAGE_PASSWORD } from "../page-access";
import { picture, png } from "../pictures";
import { byForm, type Sent, type ActionInstallation, type Verbs } from "./verb";

/** Returns one of the forms of a page with its current version. */
async function pageForm(
  installation: ActionInstallation,
  section: string,
  fields: Record<string, string>,
): Promise<Sent> {
  const version = await installation.version(`/pages/${installation.pageId}/general`);
  return byForm(installation, `/pages/${installation.pageId}/${section}`, { version, ...fields });
}

function component({ components }: ActionInstallation, rest = ""): string {
  return `/components/${components["API"]}${rest}`;
}

const upload =
  (kind: "logo" | "favicon") =>
  async (installation: ActionInstallation): Promise<Sent> => {
    const { pageId, session } = installation;
    const version = await installation.version(`/pages/${pageId}/look`);
    const bytes = kind === "logo" ? picture("png") : png(32, 32);
    const options = asUpload([
      { name: "version", text: version },
      { name: kind, filename: "picture.png", type: "image/png", bytes },
    ]);
    return { path: `/admin/pages/${pageId}/${kind}`, options: { ...options, session } };
  };

const removePicture =
  (kind: "logo" | "favicon") =>
  async (installation: ActionInstallation): Promise<Sent> => {
    const { path, options } = await upload(kind)(installation);
    await installation.app.call(path, options);
    const version = await installation.version(`/pages/${installation.pageId}/look`);
    return byForm(installation, `/pages/${installation.pageId}/${kind}/remove`, { version });
  };

/** Returns the form of a visitor of the page, which is private with a password then. */
async function visitorForm({ app, pageId }: ActionInstallation, path: string): Promise<Sent> {
  const access = createPageAccess(app, pageId);
  await access.password(PAGE_PASSWORD);
  await access.update({ visibility: "private" });
  return { path, options: { form: { password: PAGE_PASSWORD } } };
}

const LOOK = { theme: "dark", accent: "#0b6b53" };
const NEW = { form: "1", slug: "b", visibility: "public" };
const LINK = { form: "1", name: "Partner", expires: "never" };
const GENERAL = {
  name: "Another",
  description: "",
  time_zone: "UTC",
  locale: "en",
  history_days: "90",
  join_minutes: "10",
  report: "team",
};

/** Dashboard requests that change pages, or the arrangement of their components, and the form of visitors. */
export const PAGE_VERBS: Verbs = {
  "POST /access": {
    leaves: [],
    because: "A visit changes nothing.",
    prepare: (installation) => visitorForm(installation, "/access"),
  },
  "POST /status/:slug/access": {
    leaves: [],
    because: "A visit changes nothing.",
    prepare: (installation) => visitorForm(installation, "/status/acme/access"),
  },
  "POST /admin/components/new": {
    leaves: ["component.create"],
    prepare: (installation) =>
      byForm(installation, "/components/new", {
        form: "1",
        page: installation.pageId,
        name: "CDN",
      }),
  },
  "POST /admin/components/several": {
    leaves: ["component.create", "component.create"],
    prepare: (installation) =>
      byForm(installation, "/components/several", {
        form: "1",
        page: installation.pageId,
        name: "DNS\r\nMail",
      }),
  },
  "POST /admin/components/:id": {
    leaves: ["component.update"],
    prepare: async (installation) =>
      byForm(installation, component(installation), {
        version: await installation.version(component(installation)),
        name: "API 2",
        group_id: installation.groupId,
      }),
  },
  "POST /admin/components/:id/move": {
    leaves: ["component.order"],
    prepare: (installation) =>
      byForm(installation, component(installation, "/move"), { direction: "down" }),
  },
  "POST /admin/components/:id/delete": {
    leaves: ["component.delete"],
    prepare: (installation) => byForm(installation, component(installation, "/delete")),
  },
  "POST /admin/components/order": {
    leaves: ["component.order"],
    prepare: ({ components, groupId, ...installation }) =>
      byForm(installation as ActionInstallation, "/components/order", {
        page: installation.pageId,
        item: [groupId, components["Website"] ?? "", components["API"] ?? ""],
      }),
  },
  "POST /admin/components/groups/new": {
    leaves: ["group.create"],
    prepare: (installation) =>
      byForm(installation, "/components/groups/new", {
        form: "1",
        page: installation.pageId,
        name: "Edge",
        collapse: "expanded",
      }),
  },
  "POST /admin/components/groups/:id": {
    leaves: ["group.update"],
    async prepare(installation) {
      const path = `/components/groups/${installation.groupId}`;
      const version = await installation.version(path);
      return byForm(installation, path, { version, name: "Heart", collapse: "expanded" });
    },
  },
  "POST /admin/components/groups/:id/move": {
    leaves: ["component.order"],
    async prepare(installation) {
      const fields = { form: "1", page: installation.pageId, name: "Edge", collapse: "expanded" };
      const { path, options } = byForm(installation, "/components/groups/new", fields);
      await installation.app.call(path, options);
      return byForm(installation, `/components/groups/${installation.groupId}/move`, {
        direction: "down",
      });
    },
  },
  "POST /admin/components/groups/:id/delete": {
    leaves: ["group.delete"],
    prepare: (installation) =>
      byForm(installation, `/components/groups/${installation.groupId}/delete`),
  },
  "POST /admin/pages/new": {
    leaves: ["page.create"],
    prepare: (installation) => byForm(installation, "/pages/new", { ...GENERAL, ...LOOK, ...NEW }),
  },
  "POST /admin/pages/:id/general": {
    leaves: ["page.update"],
    prepare: (installation) => pageForm(installation, "general", GENERAL),
  },
  "POST /admin/pages/:id/look": {
    leaves: ["page.update"],
    prepare: (installation) => pageForm(installation, "look", LOOK),
  },
  "POST /admin/pages/:id/access": {
    leaves: ["page.update"],
    prepare: (installation) => pageForm(installation, "access", { visibility: "private" }),
  },
  "POST /admin/pages/:id/password": {
    leaves: ["page.set_password"],
    prepare: (installation) => pageForm(installation, "password", { password: "a horse battery" }),
  },
  "POST /admin/pages/:id/password/remove": {
    leaves: ["page.set_password"],
    async prepare(installation) {
      const { app, pageId } = installation;
      await createPageAccess(app, pageId).password(PAGE_PASSWORD);
      return byForm(installation, `/pages/${pageId}/password/remove`);
    },
  },
  "POST /admin/pages/:id/networks": {
    leaves: ["page.set_networks"],
    prepare: (installation) => pageForm(installation, "networks", { networks: "10.0.0.0/8" }),
  },
  "POST /admin/pages/:id/links/new": {
    leaves: ["page.create_link"],
    prepare: (installation) =>
      byForm(installation, `/pages/${installation.pageId}/links/new`, LINK),
  },
  "POST /admin/pages/:id/links/:link/revoke": {
    leaves: ["page.revoke_link"],
    async prepare(installation) {
      const { app, pageId } = installation;
      const { link } = await createPageAccess(app, pageId).link("Partner");
      return byForm(installation, `/pages/${pageId}/links/${link.id}/revoke`);
    },
  },
  "POST /admin/pages/:id/address": {
    leaves: ["page.update"],
    prepare: (installation) => pageForm(installation, "address", { slug: "another" }),
  },
  "POST /admin/pages/:id/compat": {
    leaves: ["page.update"],
    prepare: (installation) => pageForm(installation, "compat", { compat: "uptime-kuma" }),
  },
  "POST /admin/pages/:id/domains": {
    leaves: ["page.update"],
    prepare: (installation) =>
      pageForm(installation, "domains", { custom_domains: "status.example.com" }),
  },
  "POST /admin/pages/:id/slugs/:slug/release": {
    leaves: ["page.release_slug"],
    async prepare(installation) {
      const { path, options } = await pageForm(installation, "address", { slug: "another" });
      await installation.app.call(path, options);
      return byForm(installation, `/pages/${installation.pageId}/slugs/acme/release`);
    },
  },
  "POST /admin/pages/:id/default": {
    leaves: ["page.update"],
    async prepare(installation) {
      const { path, options } = byForm(installation, "/pages/new", { ...GENERAL, ...LOOK, ...NEW });
      await installation.app.call(path, options);
      const other = listAllPages(installation.app.ctx.db, {}).find(({ slug }) => slug === "b");
      return byForm(installation, `/pages/${other?.id}/default`);
    },
  },
  "POST /admin/pages/:id/logo": { leaves: ["page.put_logo"], prepare: upload("logo") },
  "POST /admin/pages/:id/logo/remove": {
    leaves: ["page.delete_logo"],
    prepare: removePicture("logo"),
  },
  "POST /admin/pages/:id/favicon": { leaves: ["page.put_favicon"], prepare: upload("favicon") },
  "POST /admin/pages/:id/favicon/remove": {
    leaves: ["page.delete_favicon"],
    prepare: removePicture("favicon"),
  },
  "POST /admin/pages/:id/texts": {
    leaves: ["page.update"],
    prepare: (installation) => pageForm(installation, "texts", { header: "Welcome" }),
  },
  "POST /admin/pages/:id/css": {
    leaves: ["page.update"],
    prepare: (installation) => pageForm(installation, "css", { custom_css: "main{color:red}" }),
  },
  "POST /admin/pages/:id/delete": {
    leaves: ["page.delete"],
    prepare: (installation) =>
      byForm(installation, `/pages/${installation.pageId}/delete`, { slug: "acme" }),
  },
};
