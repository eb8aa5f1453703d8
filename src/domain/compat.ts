/** Products in whose formats a page can be read. */
export const COMPAT_PRODUCTS = ["uptime-kuma", "gatus"] as const;
export type CompatProduct = (typeof COMPAT_PRODUCTS)[number];
