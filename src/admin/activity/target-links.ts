import type { Reader } from "../../db";
import { Problem } from "../../errors";
import { getComponentRow, getGroupRow } from "../../features/components";
import { getIncidentRow } from "../../features/incidents";
import { getKey } from "../../features/keys";
import { getMaintenancePart } from "../../features/maintenance";
import { getMonitorRecord } from "../../features/monitors";
import { getPage } from "../../features/pages";
import { getUser } from "../../features/users";
import { getWebhookRecord } from "../../features/webhooks";
import { type Role, roleAllows } from "../../domain/role";
import {
  componentPath,
  GENERAL_PATH,
  groupPath,
  incidentPath,
  keyPath,
  maintenancePath,
  monitorPath,
  pagePath,
  userPath,
  webhookPath,
} from "../paths";

interface Kind {
  /** Prefix of the ids of this kind, or its only id. */
  prefix: string;
  /** Role required by the screen. */
  role: Role;
  path(id: string): string;
  /** Throws `not_found` if the object no longer exists. */
  read(reader: Reader, id: string): void;
}

const KINDS: readonly Kind[] = [
  {
    prefix: "inc_",
    role: "viewer",
    path: incidentPath,
    read: (reader, id) => void getIncidentRow(reader, id, true),
  },
  {
    prefix: "mnt_",
    role: "viewer",
    path: maintenancePath,
    read: (reader, id) => void getMaintenancePart(reader, id, { before: undefined, limit: 1 }),
  },
  {
    prefix: "cmp_",
    role: "viewer",
    path: componentPath,
    read: (reader, id) => void getComponentRow(reader, id),
  },
  {
    prefix: "grp_",
    role: "admin",
    path: groupPath,
    read: (reader, id) => void getGroupRow(reader, id),
  },
  {
    prefix: "mon_",
    role: "viewer",
    path: monitorPath,
    read: (reader, id) => void getMonitorRecord(reader, id),
  },
  {
    prefix: "page_",
    role: "viewer",
    path: pagePath,
    read: (reader, id) => void getPage(reader, id),
  },
  { prefix: "key_", role: "admin", path: keyPath, read: (reader, id) => void getKey(reader, id) },
  {
    prefix: "whk_",
    role: "admin",
    path: webhookPath,
    read: (reader, id) => void getWebhookRecord(reader, id, 0),
  },
  { prefix: "usr_", role: "owner", path: userPath, read: (reader, id) => void getUser(reader, id) },
  { prefix: "public_address", role: "owner", path: () => GENERAL_PATH, read: () => {} },
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
    if (kind && roleAllows(role, kind.role) && isThere(reader, kind, id)) {
      links.set(id, kind.path(id));
    }
  }
  return links;
}

function isThere(reader: Reader, kind: Kind, id: string): boolean {
  try {
    kind.read(reader, id);
    return true;
  } catch (error) {
    if (error instanceof Problem && error.code === "not_found") return false;
    throw error;
  }
}
