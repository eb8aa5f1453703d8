import type { Ctx } from "../context";
import { createLoginThrottle } from "../features/auth/throttle";
import { createPasswords, type Passwords } from "../features/auth/passwords";
import type { Sessions } from "../features/auth/sessions";
import type { Egress } from "../egress/egress";
import type { Fleet } from "../features/alarms/fleet";
import type { Backups } from "../features/backups/backups";
import type { ImportJobs } from "../features/imports/jobs";
import type { KeyUsage } from "../features/keys/usage";
import type { Monitoring } from "../features/monitors/monitoring";
import type { ClientAddresses } from "../http/client-address";
import { createElysia, type RequestContexts } from "../http/elysia";
import type { RouteTable } from "../http/route-table";
import { createSignInPages } from "../features/auth/screens/sign-in-pages";
import { createFlashes } from "../ui/frame/flashes";
import { createRenderer } from "../ui/frame/render";
import { shareRead } from "../ui/frame/shared-read";
import { readSideState, withAlarms } from "../ui/frame/side-state";
import { createReveals } from "../ui/frame/reveals";
import { addAdminRoutes } from "./routes";
import { createWriteAs, createWriteOnceAs } from "../ui/frame/write-as";

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
