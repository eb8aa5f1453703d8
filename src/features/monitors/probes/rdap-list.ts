import { lazy } from "../../../kernel/lazy";

/** List of RDAP servers, as IANA publishes it (RFC 9224). */
export interface RdapList {
  /** Time of publication; absent in an excerpt, which does not name all top-level domains. */
  publication?: string;
  /** Top-level domains, and the base URLs of their servers. */
  services: readonly (readonly (readonly string[])[])[];
}

/** Returns the list that is part of this program. Loaded at its first use. */
export const includedRdapList = lazy(() => require("./rdap-servers.json") as RdapList);

/** Returns the base URL of the server that knows the domains of a top-level domain; undefined without one. */
export function rdapBaseOf({ services }: RdapList, domain: string): string | undefined {
  const topLevel = domain.slice(domain.lastIndexOf(".") + 1);
  const [, urls = []] = services.find(([names]) => names?.includes(topLevel)) ?? [];
  const url = urls.find((each) => each.startsWith("https:")) ?? urls[0];
  return url?.replace(/\/*$/, "/");
}

/** Parses a published list; undefined for other text. */
export function parseRdapList(text: string): RdapList | undefined {
  let list: Partial<RdapList> | null;
  try {
    list = JSON.parse(text) as Partial<RdapList> | null;
  } catch {
    return undefined;
  }
  const isList =
    typeof list?.publication === "string" &&
    Array.isArray(list.services) &&
    list.services.length > 0 &&
    list.services.every(isService);
  return isList ? (list as RdapList) : undefined;
}

function isService(service: unknown): boolean {
  return (
    Array.isArray(service) &&
    service.every((part) => Array.isArray(part) && part.every((text) => typeof text === "string"))
  );
}
