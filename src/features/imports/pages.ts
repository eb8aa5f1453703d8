import type { ImportChange } from "../../base/import-report";
import { numberedRef } from "../../base/ids";
import { sha256Hex } from "../../base/hash";
import { toRef } from "../../base/text";
import { createPage, updatePage } from "../pages/pages";
import { deleteLogo, putLogo } from "../pages/logo";
import { DOMAINS_MAX, hostNameOf, toDomain } from "../pages/references";
import {
  findDefaultPage,
  findPage,
  findPageBySlug,
  listAllPages,
  type PageRow,
} from "../pages/store";
import { isReservedSlug, isTimeZone } from "../pages/rules";
import { pageMark } from "./here";
import { takeNumber } from "./numbers";
import { valueOrReason, type Writer } from "./objects";
import type { ImportRun } from "./run";
import type { FoundPage } from "./source";
import { fitDescription, fitName, textChange } from "./texts";

/** Longest slug. */
const SLUG_MAX = 63;

/** Returns how pages are imported. Of `pages` the default one becomes the default here, if there is none. */
export function pageWriter(
  run: ImportRun,
  pages: readonly FoundPage[],
): Writer<FoundPage, PageRow> {
  const { ctx, tx, actor } = run;
  const first =
    pages.find(({ isDefault }) => isDefault) ??
    pages.find(({ body }) => body.visibility !== "private");
  return {
    kind: "page",
    find: (id) => findPage(tx, { id }),
    markOf: pageMark,
    settingsOf: ({ body, logo }) => ({ body, logo: logo && sha256Hex(logo) }),
    create(found) {
      const { input, changes } = fit(run, found, undefined);
      const domains = takeDomains(run, found, undefined);
      const holder = findDefaultPage(tx, {});
      const isDefault = found === first && (holder === undefined || holder.isSample);
      const page = createPage(
        ctx,
        tx,
        { ...input, custom_domains: domains.taken, default: isDefault },
        actor,
        { managedBy: "import", canBeDefault: false },
      );
      const ofLogo = writeLogo(run, page, found.logo);
      changes.push(
        ...domains.changes,
        ...ofLogo,
        ...takeNumber(run, "page", page.id, found.number),
      );
      if (found.isDefault && !isDefault) {
        const reason = "There is a default page already.";
        changes.push({ field: "default", from: true, to: false, reason });
      }
      return { row: findPage(tx, page) ?? page, changes };
    },
    update(found, before) {
      const { input, changes } = fit(run, found, before);
      const domains = takeDomains(run, found, before);
      const whole = { ...input, custom_domains: domains.taken };
      const page = updatePage(ctx, tx, before.id, whole, actor);
      changes.push(...domains.changes, ...writeLogo(run, page, found.logo));
      return { row: findPage(tx, page) ?? page, changes };
    },
    complete(found, row, isEdited) {
      const { taken } = takeDomains(run, found, row);
      if (taken.length === row.customDomains.length) return undefined;
      if (isEdited) {
        const reason = "It was edited here, so its custom domains are not taken over.";
        return { row, verdict: "kept", reason };
      }
      const page = updatePage(ctx, tx, row.id, { custom_domains: taken }, actor);
      return { row: page, verdict: "updated", reason: "It got its custom domains." };
    },
  };
}

/** Returns the fields of a page within the limits of this installation. */
function fit({ tx }: ImportRun, { foreign, body }: FoundPage, before: PageRow | undefined) {
  const name = fitName(body.name, foreign.type);
  const description = fitDescription(body.description);
  const slug = freeSlug(body.slug, (desired) => {
    const holder = findPageBySlug(tx, { slug: desired });
    return isReservedSlug(desired) || (holder !== undefined && holder.id !== before?.id);
  });
  const { time_zone: zone = "UTC" } = body;
  const timeZone = isTimeZone(zone) ? zone : "UTC";
  const changes: ImportChange[] = [
    ...name.changes,
    ...description.changes,
    ...textChange("slug", body.slug, slug, "The slug is taken, reserved or not valid."),
    ...textChange("time_zone", zone, timeZone, "The time zone is not known."),
  ];
  const fitted = { name: name.value, description: description.value, slug, time_zone: timeZone };
  return { input: { ...body, ...fitted }, changes };
}

/** Returns the first free slug of those that a text makes. */
function freeSlug(text: string, isTaken: (slug: string) => boolean): string {
  const desired =
    toRef(text)
      .slice(0, SLUG_MAX)
      .replace(/^-+|-+$/g, "") || "page";
  for (let count = 1; ; count++) {
    const slug = numberedRef(desired, count);
    if (!isTaken(slug)) return slug;
  }
}

/** Returns the custom domains of a page, with those of the source that can be taken over. */
function takeDomains(
  { ctx, tx, options }: ImportRun,
  { domains }: FoundPage,
  page: PageRow | undefined,
): { taken: string[]; changes: ImportChange[] } {
  const taken = [...(page?.customDomains ?? [])];
  const changes: ImportChange[] = [];
  const elsewhere = new Set(
    listAllPages(tx, {}).flatMap(({ id, customDomains }) => (id === page?.id ? [] : customDomains)),
  );
  for (const text of domains) {
    const domain = toDomain(text);
    if (domain !== undefined && taken.includes(domain)) continue;
    const reason = problemOf(domain);
    if (reason === undefined && domain !== undefined) taken.push(domain);
    else changes.push({ field: "custom_domains", from: text, to: null, reason: reason ?? "" });
  }
  return { taken, changes };

  function problemOf(domain: string | undefined): string | undefined {
    if (!options.takesDomains)
      return "The other product still answers there. Import with --take-domains to set it.";
    if (domain === undefined || domain === "localhost" || domain.endsWith(".localhost")) {
      return "It is no host name.";
    }
    if (domain === hostNameOf(ctx.baseUrl)) return "It is the host of the public address.";
    if (elsewhere.has(domain)) return "Another page has it.";
    return taken.length >= DOMAINS_MAX ? `A page has at most ${DOMAINS_MAX} of them.` : undefined;
  }
}

/** Sets or removes the logo. Returns the difference if it cannot be used. */
function writeLogo(
  { ctx, tx, actor }: ImportRun,
  { id, logo: before }: PageRow,
  logo: Uint8Array | null,
): ImportChange[] {
  if (logo === null) {
    if (before !== null) deleteLogo(ctx, tx, id, actor);
    return [];
  }
  const written = valueOrReason(() => putLogo(ctx, tx, id, { bytes: logo }, actor));
  if (typeof written !== "string") return [];
  return [{ field: "logo", from: "set", to: "none", reason: written }];
}
