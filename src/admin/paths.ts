/*
 * Where the dashboard's screens are. `SIGN_IN_PATH`, which the front door knows too, is in `http/`.
 */
export const HOME_PATH = "/admin";
export const SIGN_OUT_PATH = "/admin/sign-out";
export const KEYS_PATH = "/admin/settings/keys";
export const USERS_PATH = "/admin/settings/users";
export const GENERAL_PATH = "/admin/settings/general";
export const ACCOUNT_PATH = "/admin/settings/account";

export function keyPath(id: string): string {
  return `${KEYS_PATH}/${encodeURIComponent(id)}`;
}

export function userPath(id: string): string {
  return `${USERS_PATH}/${encodeURIComponent(id)}`;
}
