import type { AppContext } from "../../context";
import type { Reader, Tx } from "../../db";
import { type FieldError, invalidFields, Problem } from "../../errors";
import {
  createPage,
  DOMAINS_MAX,
  findPageBySlug,
  getPage,
  hostNameOf,
  validatePageInput,
  type PageInput,
  type PageRow,
  toDomain,
  updatePage,
} from "../../features/pages";
import type { Form } from "../../http";
import type { Actor } from "../../domain/actor";
import { requireSameVersion } from "../stale";
import { changesTo } from "./values";

/** Creates the page of a form. Throws `validation_failed` with every wrong field. */
export function createFromForm(
  ctx: AppContext,
  tx: Tx,
  asked: Partial<PageInput>,
  actor: Actor,
): PageRow {
  const input = asked as PageInput;
  const fields = input.slug === "" ? missingSlugErrors(input) : validatePageInput(input);
  if (fields.length === 0) fields.push(...validateSlug(tx, input.slug));
  if (fields.length > 0) throw invalidFields(fields);
  return createPage(ctx, tx, input, actor);
}

/** Returns the errors of a form without a slug whose name does not yield one. */
function missingSlugErrors(input: PageInput): FieldError[] {
  const others = validatePageInput(input).filter(({ pointer }) => pointer !== "#/slug");
  // Another name may make a slug.
  if (others.some(({ pointer }) => pointer === "#/name")) return others;
  const detail = "must be typed, such as status-page: none can be made from this name";
  return [...others, { pointer: "#/slug", detail }];
}

/**
 * Applies a form that was submitted to `url` and returns true if the page changed. A form without
 * changes is never stale. Throws errors for `rejectionOrThrow`.
 */
export function changePage(
  ctx: AppContext,
  tx: Tx,
  id: string,
  { form, asked, url }: { form: Form; asked: Partial<PageInput>; url: string },
  actor: Actor,
): boolean {
  const page = getPage(tx, id);
  const changes = changesTo(page, asked);
  if (Object.keys(changes).length === 0) return false;
  requireSameVersion(form, page);
  const taken = changes.slug === undefined ? [] : validateSlug(tx, changes.slug, id);
  if (taken.length > 0) throw invalidFields(taken);
  aboutField("custom_domains", () => updatePage(ctx, tx, id, changes, actor));
  const refused = validateOwnHost(changes.custom_domains ?? [], url);
  if (refused.length > 0) throw invalidFields(refused);
  return true;
}

/** Returns an error that names the page which holds a slug; none for a free slug. */
function validateSlug(reader: Reader, slug: string, pageId?: string): FieldError[] {
  const holder = findPageBySlug(reader, { slug });
  // The sample page gives its slug up to the first real one.
  if (!holder || holder.id === pageId || holder.isSample) return [];
  const detail =
    holder.slug === slug
      ? `is taken by the page “${holder.name}”`
      : `was the slug of the page “${holder.name}” and still leads there; release it there first`;
  return [{ pointer: "#/slug", detail }];
}

/**
 * Rejects the host under which the dashboard is open. As a custom domain it would serve no
 * dashboard, so the user could not undo the change.
 */
function validateOwnHost(domains: readonly string[], url: string): FieldError[] {
  const own = hostNameOf(url);
  return domains.flatMap((text, index) => {
    const detail = "is the host of this dashboard, which a custom domain cannot be";
    return toDomain(text) === own ? [{ pointer: `#/custom_domains/${index}`, detail }] : [];
  });
}

/** Converts a `conflict` to an error of the given field. */
function aboutField(field: string, change: () => void): void {
  try {
    change();
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "conflict") throw error;
    throw invalidFields([{ pointer: `#/${field}`, detail: error.message }]);
  }
}

const PLAINLY: Readonly<Record<string, string>> = {
  "#/custom_domains": `are more than ${DOMAINS_MAX}`,
  "#/slug": "may hold lower-case letters, digits and, inside, hyphens: 63 characters at most",
  "#/accent": "must be # and six hexadecimal digits, such as #0b6b53",
};

/**
 * Rewords validation errors for a form: patterns become sentences, and host names replace list
 * indexes. Other errors are returned unchanged.
 */
export function inPlainWords(error: unknown, { custom_domains }: Partial<PageInput>): unknown {
  if (!(error instanceof Problem) || error.code !== "validation_failed") return error;
  const plain = ({ pointer, detail }: FieldError): FieldError => {
    const index = /^#\/custom_domains\/(\d+)$/.exec(pointer)?.[1];
    if (index !== undefined) {
      return { pointer, detail: `“${custom_domains?.[Number(index)]}” ${detail}.` };
    }
    const isForPrograms = /^must match|^is empty|^has more than/.test(detail);
    return { pointer, detail: (isForPrograms && PLAINLY[pointer]) || detail };
  };
  return invalidFields(error.fields.map(plain));
}
