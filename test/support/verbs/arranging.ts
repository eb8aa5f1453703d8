import { listAllPages } from "../../../src/features/pages";
import { asUpload } from "../multipart";
import { picture } from "../pictures";
import { byForm, type Sent, type VerbHouse, type Verbs } from "./verb";

/** One of the forms of a page, with the version that its screen shows. */
async function pageForm(
  house: VerbHouse,
  section: string,
  fields: Record<string, string>,
): Promise<Sent> {
  const version = await house.version(`/pages/${house.pageId}/general`);
  return byForm(house, `/pages/${house.pageId}/${section}`, { version, ...fields });
}

function component({ components }: VerbHouse, rest = ""): string {
  return `/components/${components["API"]}${rest}`;
}

async function upload(house: VerbHouse): Promise<Sent> {
  const { pageId, session } = house;
  const version = await house.version(`/pages/${pageId}/look`);
  const file = { filename: "logo.png", type: "image/png", bytes: picture("png") };
  const options = asUpload([
    { name: "version", text: version },
    { name: "logo", ...file },
  ]);
  return { path: `/admin/pages/${pageId}/logo`, options: { ...options, session } };
}

const LOOK = { theme: "dark", accent: "#0b6b53" };
const NEW = { form: "1", slug: "b", visibility: "public" };
const GENERAL = {
  name: "Another",
  description: "",
  time_zone: "UTC",
  locale: "en",
  history_days: "90",
};

/** What changes something by the dashboard: pages, and how components stand on them. */
export const ARRANGING_VERBS: Verbs = {
  "POST /admin/components/new": {
    leaves: ["component.create"],
    prepare: (house) =>
      byForm(house, "/components/new", { form: "1", page: house.pageId, name: "CDN" }),
  },
  "POST /admin/components/:id": {
    leaves: ["component.update"],
    prepare: async (house) =>
      byForm(house, component(house), {
        version: await house.version(component(house)),
        name: "API 2",
        group_id: house.groupId,
      }),
  },
  "POST /admin/components/:id/move": {
    leaves: ["component.order"],
    prepare: (house) => byForm(house, component(house, "/move"), { direction: "down" }),
  },
  "POST /admin/components/:id/delete": {
    leaves: ["component.delete"],
    prepare: (house) => byForm(house, component(house, "/delete")),
  },
  "POST /admin/components/order": {
    leaves: ["component.order"],
    prepare: ({ components, groupId, ...house }) =>
      byForm(house as VerbHouse, "/components/order", {
        page: house.pageId,
        item: [groupId, components["Website"] ?? "", components["API"] ?? ""],
      }),
  },
  "POST /admin/components/groups/new": {
    leaves: ["group.create"],
    prepare: (house) =>
      byForm(house, "/components/groups/new", {
        form: "1",
        page: house.pageId,
        name: "Edge",
        collapse: "expanded",
      }),
  },
  "POST /admin/components/groups/:id": {
    leaves: ["group.update"],
    async prepare(house) {
      const path = `/components/groups/${house.groupId}`;
      const version = await house.version(path);
      return byForm(house, path, { version, name: "Heart", collapse: "expanded" });
    },
  },
  "POST /admin/components/groups/:id/move": {
    leaves: ["component.order"],
    async prepare(house) {
      const fields = { form: "1", page: house.pageId, name: "Edge", collapse: "expanded" };
      const { path, options } = byForm(house, "/components/groups/new", fields);
      await house.app.call(path, options);
      return byForm(house, `/components/groups/${house.groupId}/move`, { direction: "down" });
    },
  },
  "POST /admin/components/groups/:id/delete": {
    leaves: ["group.delete"],
    prepare: (house) => byForm(house, `/components/groups/${house.groupId}/delete`),
  },
  "POST /admin/pages/new": {
    leaves: ["page.create"],
    prepare: (house) => byForm(house, "/pages/new", { ...GENERAL, ...LOOK, ...NEW }),
  },
  "POST /admin/pages/:id/general": {
    leaves: ["page.update"],
    prepare: (house) => pageForm(house, "general", GENERAL),
  },
  "POST /admin/pages/:id/look": {
    leaves: ["page.update"],
    prepare: (house) => pageForm(house, "look", LOOK),
  },
  "POST /admin/pages/:id/visibility": {
    leaves: ["page.update"],
    prepare: (house) => pageForm(house, "visibility", { visibility: "private" }),
  },
  "POST /admin/pages/:id/address": {
    leaves: ["page.update"],
    prepare: (house) => pageForm(house, "address", { slug: "another" }),
  },
  "POST /admin/pages/:id/domains": {
    leaves: ["page.update"],
    prepare: (house) => pageForm(house, "domains", { custom_domains: "status.example.com" }),
  },
  "POST /admin/pages/:id/slugs/:slug/release": {
    leaves: ["page.release_slug"],
    async prepare(house) {
      const { path, options } = await pageForm(house, "address", { slug: "another" });
      await house.app.call(path, options);
      return byForm(house, `/pages/${house.pageId}/slugs/acme/release`);
    },
  },
  "POST /admin/pages/:id/default": {
    leaves: ["page.update"],
    async prepare(house) {
      const { path, options } = byForm(house, "/pages/new", { ...GENERAL, ...LOOK, ...NEW });
      await house.app.call(path, options);
      const other = listAllPages(house.app.ctx.db, {}).find(({ slug }) => slug === "b");
      return byForm(house, `/pages/${other?.id}/default`);
    },
  },
  "POST /admin/pages/:id/logo": { leaves: ["page.put_logo"], prepare: upload },
  "POST /admin/pages/:id/logo/remove": {
    leaves: ["page.delete_logo"],
    async prepare(house) {
      const { path, options } = await upload(house);
      await house.app.call(path, options);
      const version = await house.version(`/pages/${house.pageId}/look`);
      return byForm(house, `/pages/${house.pageId}/logo/remove`, { version });
    },
  },
  "POST /admin/pages/:id/delete": {
    leaves: ["page.delete"],
    prepare: (house) => byForm(house, `/pages/${house.pageId}/delete`, { slug: "acme" }),
  },
};
