import { type Role, roleAllows } from "../../../base/actor";
import { MAIL_HOLDS_SETTING } from "../../../base/mail-address";
import type { Reader } from "../../../db/statements";
import {
  componentPath,
  FLEET_PATH,
  GENERAL_PATH,
  groupPath,
  importReportPath,
  INCIDENT_TEMPLATES_PATH,
  incidentPath,
  incidentTemplatePath,
  keyPath,
  locationPath,
  MAIL_PATH,
  mailingPath,
  MAILINGS_PATH,
  maintenancePath,
  maintenanceSchedulePath,
  monitorPath,
  pagePath,
  subscriberPath,
  SUBSCRIBERS_PATH,
  userPath,
  USERS_PATH,
  webhookPath,
} from "../../../ui/frame/paths";
import { findComponent, findGroup } from "../../components/store";
import { findImport } from "../../../imports/store";
import { findTemplate } from "../../incident-templates/store";
import { findIncident } from "../../incidents/store";
import { findKey } from "../../keys/store";
import { findLocation } from "../../locations/store";
import { findMailing } from "../../mailings/store";
import { findSchedule } from "../../maintenance/schedules/store";
import { findMaintenance } from "../../maintenance/store";
import { findMonitor } from "../../monitors/store";
import { findPage } from "../../pages/store";
import { findSubscriber } from "../../subscribers/store";
import { findUser } from "../../users/store";
import { findWebhook } from "../../webhooks/store";

/** Kind of audited objects that have a screen. */
interface Kind {
  /** Prefix of the ids of this kind, or its only id. */
  prefix: string;
  /** Role required by the screen. */
  role: Role;
  path(id: string): string;
  /** Returns undefined if the object no longer exists. */
  find(reader: Reader, object: { id: string }): unknown;
}

const KINDS: readonly Kind[] = [
  { prefix: "inc_", role: "viewer", path: incidentPath, find: findIncident },
  { prefix: "tpl_", role: "editor", path: incidentTemplatePath, find: findTemplate },
  { prefix: "mnt_", role: "viewer", path: maintenancePath, find: findMaintenance },
  {
    prefix: "msc_",
    role: "editor",
    path: maintenanceSchedulePath,
    find: (reader, { id }) => findSchedule(reader, id),
  },
  { prefix: "cmp_", role: "viewer", path: componentPath, find: findComponent },
  { prefix: "grp_", role: "admin", path: groupPath, find: findGroup },
  { prefix: "mon_", role: "viewer", path: monitorPath, find: findMonitor },
  { prefix: "page_", role: "viewer", path: pagePath, find: findPage },
  { prefix: "sub_", role: "admin", path: subscriberPath, find: findSubscriber },
  { prefix: "key_", role: "admin", path: keyPath, find: findKey },
  { prefix: "whk_", role: "admin", path: webhookPath, find: findWebhook },
  { prefix: "loc_", role: "admin", path: locationPath, find: findLocation },
  { prefix: "imp_", role: "owner", path: importReportPath, find: findImport },
  { prefix: "usr_", role: "owner", path: userPath, find: findUser },
  ...["public_address", "allowed_networks", "database"].map((prefix): Kind => ({
    prefix,
    role: "owner",
    path: () => GENERAL_PATH,
    find: () => true,
  })),
  { prefix: "mlg_", role: "admin", path: mailingPath, find: findMailing },
  { prefix: MAIL_HOLDS_SETTING, role: "admin", path: () => MAILINGS_PATH, find: () => true },
  { prefix: "subscribers", role: "admin", path: () => SUBSCRIBERS_PATH, find: () => true },
  { prefix: "mail", role: "owner", path: () => MAIL_PATH, find: () => true },
  { prefix: "fleet_orphans", role: "admin", path: () => FLEET_PATH, find: () => true },
  { prefix: "reset_mails", role: "owner", path: () => USERS_PATH, find: () => true },
  {
    prefix: "built_in_templates_hidden",
    role: "editor",
    path: () => INCIDENT_TEMPLATES_PATH,
    find: () => true,
  },
];

/** Returns the paths of the objects that still exist and whose screens the role may open, by id. */
export function linksOf(
  reader: Reader,
  ids: Iterable<string>,
  role: Role,
): ReadonlyMap<string, string> {
  const links = new Map<string, string>();
  for (const id of new Set(ids)) {
    const kind = KINDS.find(({ prefix }) => id.startsWith(prefix));
    if (kind && roleAllows(role, kind.role) && kind.find(reader, { id }) !== undefined) {
      links.set(id, kind.path(id));
    }
  }
  return links;
}
