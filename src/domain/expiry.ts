import { DAY_MS } from "../kernel/time";

/** Remaining time below which the dashboard warns about the expiry of a certificate or an API key. */
export const EXPIRES_SOON_MS = 14 * DAY_MS;
