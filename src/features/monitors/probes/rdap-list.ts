import { lazy } from "../../../base/lazy";
import { parseJson } from "../../../base/text";

/** Address at which IANA publishes the list (RFC 9224). */
export const RDAP_LIST_URL = "https://data.iana.org/rdap/dns.json";

/** List of RDAP servers, in a short form. */
export interface RdapList {
  /** Time of publication; absent in an excerpt, which does not name all top-level domains. */
  publication?: string;
  /** Top-level domains that each server knows, separated by spaces, by its base URL. */
  servers: Readonly<Record<string, string>>;
}

/** Returns the list that is part of this program. Loaded at its first use. */
export const includedRdapList = lazy(() => require("./rdap-servers.json") as RdapList);

/** Returns the top-level domain of a name. */
export function topLevelOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}

/** Returns the base URL of the server that knows the domains of a top-level domain; undefined without one. */
export function rdapBaseOf({ servers }: RdapList, name: string): string | undefined {
  const topLevel = topLevelOf(name);
  const server = Object.entries(servers).find(([, names]) => names.split(" ").includes(topLevel));
  return server?.[0];
}

/** Parses the list as IANA publishes it; undefined for other text. */
export function parseRdapList(text: string): RdapList | undefined {
  const { publication, services } = (parseJson(text) ?? {}) as Record<string, unknown>;
  if (typeof publication !== "string" || !Array.isArray(services)) return undefined;
  if (services.length === 0 || !services.every(isService)) return undefined;
  const servers: Record<string, string> = {};
  for (const [names = [], urls = []] of services) {
    const url = urls.find((each) => each.startsWith("https:")) ?? urls[0] ?? "";
    if (!URL.canParse(url)) continue;
    const base = url.replace(/\/*$/, "/");
    servers[base] = [servers[base] ?? [], ...names].flat().join(" ");
  }
  return { publication, servers };
}

function isService(service: unknown): service is string[][] {
  return (
    Array.isArray(service) &&
    service.every((part) => Array.isArray(part) && part.every((text) => typeof text === "string"))
  );
}
