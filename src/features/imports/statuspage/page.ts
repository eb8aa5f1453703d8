import { toRef } from "../../../base/text";
import type { FoundPage, LeftOut } from "../source";
import { cutName, textChange } from "../texts";
import type { SourcePage } from "./document";
import { NOT_MOVED } from "./fields";
import { timeZoneOf } from "./time-zones";

const HOSTED = ".statuspage.io";
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/;

/** Returns the page of a page of Statuspage. */
export function pageOf(page: SourcePage): FoundPage {
  const address = URL.parse((hasWebsite(page) ? null : page.url) ?? "");
  const isPrivate = page.viewers_must_be_team_members === true || Boolean(page.ip_restrictions);
  const visibility = isPrivate ? "private" : "public";
  return {
    foreign: { type: "page", id: page.id, name: cutName(page.name, "Unnamed page") },
    body: {
      slug: slugOf(page, address),
      name: page.name,
      description: page.page_description ?? null,
      visibility,
      ...(page.time_zone && { time_zone: timeZoneOf(page.time_zone) }),
    },
    changes: [
      ...textChange(
        "visibility",
        isPrivate ? "restricted" : visibility,
        visibility,
        "Everyone who is signed in sees the page, from any address.",
      ),
    ],
    number: null,
    isDefault: false,
    domains: domainsOf(page, address),
    logo: null,
  };
}

/** Returns true if the URL is that of a website: the REST API has it, with the subdomain of the page. */
function hasWebsite(page: object): boolean {
  return "subdomain" in page;
}

/** Returns the name of a page in addresses: its subdomain, or what its address has. */
function slugOf({ subdomain, name }: SourcePage, address: URL | null): string {
  // The address of a page of Allclear, which answers the same documents.
  const [, slug] = /^\/status\/([^/]+)$/.exec(address?.pathname ?? "") ?? [];
  const host = address?.hostname ?? "";
  const label = host.endsWith(HOSTED) ? host.slice(0, -HOSTED.length) : host;
  return toRef(subdomain ?? "") || toRef(slug ?? label) || toRef(name) || "status-page";
}

/** Returns the host names of its own at which the page is served. */
function domainsOf({ domain }: SourcePage, address: URL | null): string[] {
  const isAtRoot = address?.pathname === "/" && address.port === "";
  const hosts = [domain ?? "", isAtRoot ? address.hostname : ""].map((host) => host.toLowerCase());
  return [...new Set(hosts)].filter((host) => HOST_NAME.test(host) && !host.endsWith(HOSTED));
}

/** Lists what Statuspage has and is not moved: some for every page, others if the page has a value. */
export function leftOutOf(page: Readonly<Record<string, unknown>>): LeftOut[] {
  const set = Object.keys(page).filter(
    (field) => hasValue(page[field]) && (field !== "url" || hasWebsite(page)),
  );
  return NOT_MOVED.filter(
    ({ fields }) =>
      fields.length === 0 || fields.some((start) => set.some((field) => field.startsWith(start))),
  ).map(({ id, name, reason }) => ({ foreign: { type: "setting", id, name }, reason }));
}

function hasValue(value: unknown): boolean {
  return value !== null && value !== undefined && value !== "" && value !== false;
}
