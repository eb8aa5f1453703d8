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
import type { Actor } from "../../kernel/actor";
import { requireSameVersion } from "../stale";
import { changesTo } from "./values";

/** Creates the page that a form asks for. Throws `validation_failed` with every wrong field. */
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

/** Returns the errors of a form without a slug, from whose name none could be made. */
function missingSlugErrors(input: PageInput): FieldError[] {
  const others = validatePageInput(input).filter(({ pointer }) => pointer !== "#/slug");
  // Another name may make a slug.
  if (others.some(({ pointer }) => pointer === "#/name")) return others;
  const detail = "must be typed, such as status-page: none can be made from this name";
  return [...others, { pointer: "#/slug", detail }];
}

/**
 * Changes of a page what a form asks for, which was sent to `url`. Whether there was anything to change: what is so already is
 * no conflict, even if somebody changed the page meanwhile. Throws what `rejectionOrThrow` takes.
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

/** What is wrong with a slug that another page holds, which is told where that page is known. */
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
 * The host by which the dashboard is open just now: as a page's own it would have no dashboard, and who
 * has entered it could not take it back.
 */
function validateOwnHost(domains: readonly string[], url: string): FieldError[] {
  const own = hostNameOf(url);
  return domains.flatMap((text, index) => {
    const detail = "is where this dashboard is open; as a page’s own it would have none";
    return toDomain(text) === own ? [{ pointer: `#/custom_domains/${index}`, detail }] : [];
  });
}

/** Tells a `conflict` as what is wrong with the one field that it can be about. */
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
 * A refusal in the words of a form: a pattern, which programs read, is told as a sentence, and a host
 * name by itself rather than by its place. Any other error stays as it is.
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
