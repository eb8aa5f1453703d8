/*
 * Rules by which visitors see a private page: a password, networks, and links. Each is enough. A rule has no effect while
 * its page is public, but is kept.
 */
import { type Static, Type } from "@sinclair/typebox";
import type { Actor } from "../../base/actor";
import { canonicalNetworks, isNetwork, parseNetworks } from "../../base/config/parse";
import { conflict, invalidFields, notFound } from "../../base/errors";
import { Nullable, Text } from "../../base/schema";
import { codePointLength, firstNames, plural } from "../../base/text";
import { NameText } from "../../base/texts";
import type { Valid } from "../../base/validation";
import type { Ctx } from "../../context";
import type { Tx } from "../../db/statements";
import { GRANT_KEY, newGrantKey } from "../../db/tables/page-access";
import { audit } from "../../events/audit";
import { generateToken, hashToken } from "../auth/sessions";
import { decideExpiry } from "../keys/rules";
import { putSetting } from "../settings/store";
import { type PageAddress, pageUrl } from "./addresses";
import { getPage, touchPage } from "./pages";
import {
  deletePageLink,
  deletePagePassword,
  findPageLink,
  insertPageLink,
  insertPagePassword,
  listLinksOfPage,
  type PageLinkRow,
} from "./access-store";
import { type PageRow, updatePageRow } from "./store";
import { findGrantKey } from "./visits";

const PASSWORD_MIN = 8;
const PASSWORD_MAX = 200;

/** The password of a page, on one line, since visitors type it into such a field. Its errors never contain it. */
export const PagePasswordInput = Type.Object({
  password: Text({ isName: true, check: passwordError }),
});

/** Returns the error of a password's length, in code points of NFKC, the form that is hashed. */
function passwordError(password: string): string | undefined {
  // The time of the normalisation grows with the square of the length.
  const isLong = password.length > 2 * PASSWORD_MAX;
  const length = isLong ? Number.POSITIVE_INFINITY : codePointLength(password.normalize("NFKC"));
  return length >= PASSWORD_MIN && length <= PASSWORD_MAX
    ? undefined
    : `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`;
}

const NETWORKS_MAX = 100;
/** Characters of the longest spelling of an IPv6 network. */
const NETWORK_LENGTH_MAX = 49;

/** Networks from which visitors see a page. */
export const PageNetworks = Type.Array(
  Text({ minLength: 1, maxLength: NETWORK_LENGTH_MAX, check: networkError }),
  { maxItems: NETWORKS_MAX },
);

function networkError(text: string): string | undefined {
  if (!isNetwork(text)) return "must be a network or an address, such as 10.0.0.0/8";
  // After the conversion of IPv4-mapped networks.
  const isEverything = parseNetworks(text).some(([, bits]) => bits === 0);
  return isEverything ? "is every address: make the page public instead" : undefined;
}

export const PageNetworksInput = Type.Object(
  { networks: PageNetworks },
  { additionalProperties: false },
);
export type PageNetworksInput = Static<typeof PageNetworksInput>;

/**
 * Sets or removes the password of a page. `hash` is the one that `Passwords` makes of a valid password; null removes it.
 * Visits with an earlier password end. Throws `not_found`.
 */
export function setPagePassword(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  hash: string | null,
  actor: Actor,
): PageRow {
  const page = getPage(tx, pageId);
  if (hash === null && page.passwordId === null) return page;
  deletePagePassword(tx, { pageId });
  if (hash !== null) insertPagePassword(tx, { pageId, hash });
  const passwordId = hash === null ? null : ctx.newId("pwd");
  const what = hash === null ? "Removed" : page.passwordId === null ? "Set" : "Changed";
  const summary = `${what} the password for visitors of the page “${page.name}”`;
  return change(ctx, tx, { ...page, passwordId }, ["page.set_password", summary, actor]);
}

/** Replaces the networks from which visitors see a page. Equal ones change nothing. Throws `not_found`. */
export function setPageNetworks(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  input: Valid<PageNetworksInput>,
  actor: Actor,
): PageRow {
  const page = getPage(tx, pageId);
  const networks = canonicalNetworks(input.networks);
  if (Bun.deepEquals(networks, page.networks)) return page;
  const summary =
    networks.length === 0
      ? `Removed the networks of the page “${page.name}”`
      : `Set the networks of the page “${page.name}” to ${firstNames(networks, NAMED_MAX)}`;
  return change(ctx, tx, { ...page, networks }, ["page.set_networks", summary, actor]);
}

/** Number of networks that an entry of the audit log names. */
const NAMED_MAX = 10;

const LINKS_MAX = 100;

/** Fields of a new link. `expires` is an instant, or the last UTC day on which the link works. */
export const PageLinkInput = Type.Object(
  { name: NameText, expires: Type.Optional(Nullable(Type.String())) },
  { additionalProperties: false },
);
export type PageLinkInput = Static<typeof PageLinkInput>;

/** A link that was just made. Its token is not stored. */
export interface MadePageLink {
  link: PageLinkRow;
  token: string;
}

/**
 * Makes a link to a page for visitors. Throws `not_found`, `validation_failed` for an end that is not possible, or
 * `conflict` for a page with 100 links.
 */
export function createPageLink(
  ctx: Ctx,
  tx: Tx,
  pageId: string,
  { name, expires }: Valid<PageLinkInput>,
  actor: Actor,
): MadePageLink {
  const page = getPage(tx, pageId);
  const now = ctx.clock.now();
  const expiry = expires == null ? { expiresAt: null } : decideExpiry(expires, now);
  if ("error" in expiry) throw invalidFields([{ pointer: "#/expires", detail: expiry.error }]);
  if (listLinksOfPage(tx, { pageId }).length >= LINKS_MAX) {
    throw conflict(`A page has at most ${plural(LINKS_MAX, "link")}. Revoke one first.`);
  }
  const token = generateToken(ctx.random);
  const link: PageLinkRow = {
    id: ctx.newId("lnk"),
    pageId,
    name,
    hash: hashToken(token) as Buffer,
    createdAt: now,
    expiresAt: expiry.expiresAt,
    lastUsedAt: null,
  };
  insertPageLink(tx, link);
  const summary = `Created the link “${name}” to the page “${page.name}”`;
  change(ctx, tx, { ...page, hasLinks: true }, ["page.create_link", summary, actor]);
  return { link, token };
}

/** Revokes a link: it opens nothing from now on, and visits that began with it end. Throws `not_found`. */
export function revokePageLink(ctx: Ctx, tx: Tx, pageId: string, id: string, actor: Actor): void {
  const page = getPage(tx, pageId);
  const link = findPageLink(tx, { pageId, id });
  if (!link) throw notFound("link");
  deletePageLink(tx, { pageId, id });
  const hasLinks = listLinksOfPage(tx, { pageId }).length > 0;
  const summary = `Revoked the link “${link.name}” to the page “${page.name}”`;
  change(ctx, tx, { ...page, hasLinks }, ["page.revoke_link", summary, actor]);
}

/** Returns the address by which visitors enter with the token of a link. Documents of the page are below it. */
export function pageLinkUrl(baseUrl: string, page: PageAddress, token: string): string {
  return `${pageUrl(baseUrl, page)}/with/${token}`;
}

/** Writes a page whose rules changed. */
function change(
  ctx: Ctx,
  tx: Tx,
  page: PageRow,
  [action, summary, actor]: [action: string, summary: string, actor: Actor],
): PageRow {
  updatePageRow(tx, { ...page, version: page.version + 1, updatedAt: ctx.clock.now() });
  // Visits are signed by it, and a visit writes nothing.
  if (page.passwordId !== null || page.hasLinks) ensureGrantKey(ctx, tx);
  audit(ctx, tx, actor, action, page.id, summary);
  touchPage(ctx, tx, page.id);
  ctx.signals.addressesChanged.raise(tx);
  return getPage(tx, page.id);
}

function ensureGrantKey(ctx: Ctx, tx: Tx): void {
  if (findGrantKey(tx)) return;
  putSetting(tx, { name: GRANT_KEY, value: newGrantKey(ctx.random), now: ctx.clock.now() });
}
