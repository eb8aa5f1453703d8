import type { Ctx } from "../context";
import {
  createLoginThrottle,
  createPasswords,
  type Passwords,
  type Sessions,
} from "../features/auth";
import type { Egress } from "../egress";
import type { Fleet } from "../features/alarms";
import type { Backups } from "../features/backups";
import type { ImportJobs } from "../features/imports";
import type { KeyUsage } from "../features/keys";
import type { Monitoring } from "../features/monitors";
import { type ClientAddresses, createElysia, type RequestContexts, type RouteTable } from "../http";
import { createSignInPages } from "./entry/sign-in-pages";
import { createFlashes } from "./flashes";
import { createRenderer } from "./render";
import { shareRead } from "./shared-read";
import { readSideState, withAlarms } from "./side-state";
import { createReveals } from "./reveals";
import { addAdminRoutes } from "./routes";
import { createWriteAs, createWriteOnceAs } from "./write-as";

/** Dependencies that the dashboard shares with the rest of the application. */
interface DashboardDependencies {
  ctx: Ctx;
  requestContexts: RequestContexts;
  addresses: ClientAddresses;
  sessions: Sessions;
  /** Verifies passwords; with real hashes if omitted. */
  passwords: Passwords | undefined;
  usage: KeyUsage;
  monitoring: Monitoring;
  backups: Backups;
  imports: ImportJobs;
  egress: Egress;
  fleet?: Fleet | undefined;
  /** Table of all routes. */
  routes: RouteTable;
}

/** Creates the dashboard: its application, and its answer to a refused form. */
export function createDashboard(dashboardDeps: DashboardDependencies) {
  const { ctx, addresses, passwords = createPasswords(), fleet, ...shared } = dashboardDeps;
  const flashes = createFlashes();
  const writeAs = createWriteAs(ctx);
  const writeOnceAs = createWriteOnceAs(ctx, writeAs);
  const signInPages = createSignInPages(ctx, shared.sessions, shared.routes);
  const readSide = shareRead(ctx.db, (now) => readSideState(ctx.db, now));
  const deps = {
    ...shared,
    ctx,
    fleet,
    passwords,
    flashes,
    signInPages,
    writeAs,
    writeOnceAs,
    reveals: createReveals(ctx, writeOnceAs),
    throttle: createLoginThrottle(ctx),
    render: createRenderer({
      flashes,
      addresses,
      readSide: (now) => withAlarms(readSide(now), fleet?.alarms.list() ?? []),
    }),
  };
  const elysia = createElysia(deps.requestContexts);
  addAdminRoutes(elysia, deps);
  return { elysia, answerRefusedForm: signInPages.answerRefusedForm };
}
