/** Products in whose formats a page can be read. */
export const COMPAT_PRODUCTS = ["uptime-kuma", "gatus"] as const;
export type CompatProduct = (typeof COMPAT_PRODUCTS)[number];

/** Returns the key by which clients of Gatus know a component. */
export function gatusKeyOf(group: string, name: string): string {
  return `${sanitize(group)}_${sanitize(name)}`;
}

function sanitize(text: string): string {
  return text
    .toLowerCase()
    .trim()
    .replace(/[/_., #+&]/g, "-");
}
