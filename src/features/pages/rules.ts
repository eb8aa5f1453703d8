import { COMPAT_PRODUCTS, type CompatProduct } from "../../base/compat";

/** Time after the start of an automatic incident in which outages join it, in minutes, by default. */
export const JOIN_MINUTES = 10;

/** Words in current or possible future paths of the server, and misleading slugs. */
const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  "admin",
  "allclear",
  "api",
  "assets",
  "auth",
  "docs",
  "favicon",
  "health",
  "healthz",
  "heartbeats",
  "history",
  "incidents",
  "login",
  "logout",
  "maintenance",
  "metrics",
  "new",
  "openapi",
  "readyz",
  "robots",
  "setup",
  "static",
  "status",
  "v1",
  "v2",
]);

export function isReservedSlug(slug: string): boolean {
  return RESERVED_SLUGS.has(slug);
}

/** Returns products in the order in which they are stored. */
export function compatOf(products: readonly CompatProduct[]): CompatProduct[] {
  return COMPAT_PRODUCTS.filter((product) => products.includes(product));
}

/** Kinds of rules by which visitors see a private page. */
export const ACCESS_KINDS = ["password", "network", "link"] as const;
type AccessKind = (typeof ACCESS_KINDS)[number];

/** Returns the kinds of rules that a page has, in order. They have no effect while it is public. */
export function accessKindsOf(page: {
  passwordId: string | null;
  networks: readonly string[];
  hasLinks: boolean;
}): AccessKind[] {
  const has: Record<AccessKind, boolean> = {
    password: page.passwordId !== null,
    network: page.networks.length > 0,
    link: page.hasLinks,
  };
  return ACCESS_KINDS.filter((kind) => has[kind]);
}

/** Returns true if a link opens its page at `now` (unix ms). */
export function isPageLinkLive({ expiresAt }: { expiresAt: number | null }, now: number): boolean {
  return expiresAt === null || now < expiresAt;
}
