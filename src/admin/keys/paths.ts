export const KEYS_PATH = "/admin/settings/keys";

export function keyPath(id: string): string {
  return `${KEYS_PATH}/${encodeURIComponent(id)}`;
}
