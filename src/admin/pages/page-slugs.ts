import type { Reader } from "../../db/statements";
import type { FieldError } from "../../base/errors";
import { findPageBySlug } from "../../features/pages/store";
import { hostNameOf, toDomain } from "../../features/pages/address";
import type { PageInput } from "../../features/pages/model";
import { validatePageInput } from "../../features/pages/service";

/** Returns every error of a new page, whose slug may be missing or taken. */
export function newPageErrors(reader: Reader, input: PageInput): FieldError[] {
  const errors = input.slug === "" ? missingSlugErrors(input) : validatePageInput(input);
  return errors.length > 0 ? errors : takenSlugErrors(reader, input.slug);
}

/** Returns the errors of a form without a slug whose name does not yield one. */
function missingSlugErrors(input: PageInput): FieldError[] {
  const others = validatePageInput(input).filter(({ pointer }) => pointer !== "#/slug");
  // Another name may make a slug.
  if (others.some(({ pointer }) => pointer === "#/name")) return others;
  const detail = "must be entered, such as status-page, because none can be made from this name";
  return [...others, { pointer: "#/slug", detail }];
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
export function ownHostErrors(domains: readonly string[], dashboardUrl: string): FieldError[] {
  const own = hostNameOf(dashboardUrl);
  return domains.flatMap((text, index) => {
    const detail = "is the host of this dashboard, which cannot be a custom domain";
    return toDomain(text) === own ? [{ pointer: `#/custom_domains/${index}`, detail }] : [];
  });
}
