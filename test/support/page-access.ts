/* Access rules of private pages, and grants of visitors who enter by them. */
import { CLI_ACTOR } from "../../src/base/actor";
import { validate } from "../../src/base/validation";
import { createPasswords } from "../../src/features/auth/passwords";
import {
  createPageLink,
  type MadePageLink,
  PageLinkInput,
  PageNetworksInput,
  PagePasswordInput,
  revokePageLink,
  setPageNetworks,
  setPagePassword,
} from "../../src/features/pages/access";
import type { PageRow } from "../../src/features/pages/store";
import type { PartialPageInput } from "../../src/features/pages/wire";
import type { Answer, CallOptions, TestApp } from "./app";
import { updatePage } from "./examined";

/** Password that tests set for a page. */
export const PAGE_PASSWORD = "open sesame 1";

/** Changes of the rules by which visitors see a page. */
export interface PageAccess {
  /** Sets the password; null removes it. */
  password(password: string | null): Promise<PageRow>;
  networks(...networks: string[]): Promise<PageRow>;
  /** Makes a link, with a last day or an end. */
  link(name: string, expires?: string): Promise<MadePageLink>;
  revoke(linkId: string): Promise<void>;
  update(change: PartialPageInput): Promise<PageRow>;
}

/** Creates the changes of a page's rules, as the command line makes them. */
export function createPageAccess({ ctx }: Pick<TestApp, "ctx">, pageId: string): PageAccess {
  const passwords = createPasswords();

  async function hashOf(typed: string): Promise<string> {
    const { password } = validate(PagePasswordInput, { password: typed });
    return passwords.hash(password);
  }

  const linkInput = (name: string, expires?: string) =>
    validate(PageLinkInput, { name, ...(expires === undefined ? {} : { expires }) });

  return {
    async password(password) {
      const hash = password === null ? null : await hashOf(password);
      return ctx.db.write((tx) => setPagePassword(ctx, tx, pageId, hash, CLI_ACTOR));
    },
    networks: (...networks) =>
      ctx.db.write((tx) =>
        setPageNetworks(ctx, tx, pageId, validate(PageNetworksInput, { networks }), CLI_ACTOR),
      ),
    link: (name, expires) =>
      ctx.db.write((tx) => createPageLink(ctx, tx, pageId, linkInput(name, expires), CLI_ACTOR)),
    revoke: (linkId) => ctx.db.write((tx) => revokePageLink(ctx, tx, pageId, linkId, CLI_ACTOR)),
    update: (change) => ctx.db.write((tx) => updatePage(ctx, tx, pageId, change, CLI_ACTOR)),
  };
}

/** Sends one request to an application, as `TestApp.call`. */
type Call = (path: string, options?: CallOptions) => Promise<Answer>;

/** Returns the cookie of an answer that lets a visitor in, as a request sends it. Throws without one. */
export function grantOf({ status, headers }: { status: number; headers: Headers }): string {
  const [cookie] = headers.getSetCookie();
  if (cookie === undefined) throw new Error(`the answer ${status} has no cookie`);
  return cookie.split(";", 1)[0] ?? "";
}

/** Enters a page by its password and returns the grant. */
export async function enterByPassword(
  call: Call,
  slug: string,
  password: string = PAGE_PASSWORD,
): Promise<string> {
  return grantOf(await call(`/status/${slug}/access`, { form: { password } }));
}

/** Enters a page by a link and returns the grant. */
export async function enterByLink(
  call: Call,
  slug: string,
  { token }: MadePageLink,
): Promise<string> {
  return grantOf(await call(`/status/${slug}/with/${token}`));
}
