import type { AppContext } from "../context";
import type { LoginThrottle, Passwords, Sessions } from "../features/auth";
import type { KeyUsage } from "../features/keys";
import type { Admissions, Operation, RouteTable } from "../http";
import type { Flashes } from "./flashes";
import type { Reveals } from "./reveals";
import type { Screens } from "./screens";

/** What the dashboard's routes work with. */
export interface AdminParts {
  ctx: AppContext;
  admissions: Admissions;
  screens: Screens;
  flashes: Flashes;
  reveals: Reveals;
  sessions: Sessions;
  passwords: Passwords;
  throttle: LoginThrottle;
  usage: KeyUsage;
  /** The table of all routes, which is complete when the first request comes. */
  routes: () => RouteTable;
}

/** Declares a screen or a form's action: kept out of the API's document, its errors told as pages. */
export function screen(summary: string, access: Operation["access"]): Operation {
  return {
    summary,
    tag: "Dashboard",
    access,
    answers: { 200: { description: "HTML." }, 303: { description: "Done; the next screen." } },
    errors: ["not_found", "conflict"],
  };
}
