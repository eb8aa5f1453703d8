import type { Role } from "../../base/actor";
import type { Ctx } from "../../context";
import type { Egress } from "../../egress/egress";
import type { Fleet } from "../../features/alarms/fleet";
import type { Oidc } from "../../features/auth/flows";
import type { Passwords } from "../../features/auth/passwords";
import type { SignInPages } from "../../features/auth/screens/sign-in";
import type { Sessions } from "../../features/auth/sessions";
import type { LoginThrottle } from "../../features/auth/throttle";
import type { Backups } from "../../features/backups/backups";
import type { LabelReport } from "../../features/docker-labels/docker-labels";
import type { KeyUsage } from "../../features/keys/usage";
import type { Monitoring } from "../../features/monitors/monitoring";
import type { Visits } from "../../features/pages/visits";
import type { RouteTable } from "../../http/route-table";
import type { ImportJobs } from "../../imports/jobs";
import type { Reveals, WriteAs, WriteOnceAs } from "./changes";
import type { Flashes } from "./flashes";
import type { Place } from "./places";
import type { Renderer } from "./render";

/** Dependencies of the dashboard's routes. */
export interface AdminDependencies {
  ctx: Ctx;
  render: Renderer;
  /** Returns the places that a role may open. */
  places: (role: Role) => readonly Place[];
  flashes: Flashes;
  reveals: Reveals;
  writeAs: WriteAs;
  writeOnceAs: WriteOnceAs;
  sessions: Sessions;
  signInPages: SignInPages;
  /** Sign-in with the provider; undefined without one. */
  oidc: Oidc | undefined;
  passwords: Passwords;
  throttle: LoginThrottle;
  usage: KeyUsage;
  /** Runner of the checks. */
  monitoring: Monitoring;
  backups: Backups;
  imports: ImportJobs;
  egress: Egress;
  /** Outcome of the labels of containers; undefined without a Docker host whose labels are read. */
  labels?: (() => LabelReport | undefined) | undefined;
  /** Parts for more than one machine; undefined without their options. */
  fleet: Fleet | undefined;
  /** Visits of private pages. */
  visits: Visits;
  /** Table of all routes, complete before the first request. */
  routes: RouteTable;
}
