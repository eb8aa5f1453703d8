import { type Network, option, parseNetworks, parseOneOf } from "./parse";
import { EVERYONE, type RoleRule } from "./sign-in";

/** Header with the secret of a proxy, in lower case. */
export const PROXY_SECRET_HEADER = "allclear-proxy-secret";

/** Least and greatest length of the secret, in characters. */
const SECRET_MIN = 16;
const SECRET_MAX = 1_000;

/** Options of proxies that name the users of the dashboard. Without the first, no header is read. */
export const IDENTITY_PROXY_OPTIONS = {
  identityProxy: option({
    flag: "identity-proxy",
    env: "ALLCLEAR_IDENTITY_PROXY",
    parse: parseNetworks,
    default: "",
    placeholder: "CIDR,…",
    help: "Networks of proxies that name the users of the dashboard in headers, such as 10.0.0.5/32. They must overwrite these headers in every request.",
    scope: "serve",
  }),
  identityProxyHeader: option({
    flag: "identity-proxy-header",
    env: "ALLCLEAR_IDENTITY_PROXY_HEADER",
    parse: parseHeaderName,
    default: "Remote-User",
    placeholder: "NAME",
    help: "Header with the name of the user.",
    scope: "serve",
  }),
  identityProxyEmailHeader: option({
    flag: "identity-proxy-email-header",
    env: "ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER",
    parse: parseHeaderName,
    default: undefined,
    placeholder: "NAME",
    help: "Header with the e-mail of the user, which counts as verified. New users need one.",
    scope: "serve",
  }),
  identityProxyGroupsHeader: option<string | undefined>({
    flag: "identity-proxy-groups-header",
    env: "ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER",
    parse: (value) => (value === "off" ? undefined : parseHeaderName(value)),
    default: "Remote-Groups",
    placeholder: "NAME",
    help: "Header with the groups of the user, separated by commas; off for a proxy that sends none.",
    scope: "serve",
  }),
  identityProxySecret: option({
    flag: undefined,
    env: "ALLCLEAR_IDENTITY_PROXY_SECRET",
    fileEnv: "ALLCLEAR_IDENTITY_PROXY_SECRET_FILE",
    parse: parseProxySecret,
    default: undefined,
    placeholder: "SECRET",
    help: `Secret of at least ${SECRET_MIN} characters that the proxy sends in the header Allclear-Proxy-Secret, or a file that contains it.`,
    scope: "serve",
  }),
  identityProxyNoSecret: option({
    flag: "identity-proxy-no-secret",
    env: "ALLCLEAR_IDENTITY_PROXY_NO_SECRET",
    parse: parseOneOf(["off", "on"]),
    default: "off",
    placeholder: "MODE",
    help: "on: a proxy on this machine needs no secret, such as Tailscale. Every program on this machine can then be any user.",
    scope: "serve",
  }),
} as const;

type IdentityProxyName = keyof typeof IDENTITY_PROXY_OPTIONS;

/** Names of options without a default. */
export type OptionalIdentityProxyName = "identityProxyEmailHeader" | "identityProxySecret";

/** A token (RFC 9110). */
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;

/** Headers that mean something else, or that a proxy cannot overwrite. */
const RESERVED_HEADERS = new Set([
  PROXY_SECRET_HEADER,
  "authorization",
  "connection",
  "cookie",
  "host",
]);

function parseHeaderName(value: string): string {
  if (!HEADER_NAME.test(value) || RESERVED_HEADERS.has(value.toLowerCase())) {
    throw new Error("must be the name of a header, such as Remote-User");
  }
  return value;
}

/** Characters of a header, without the comma: repeated headers are joined by commas. */
const SECRET = new RegExp(`^[!-+\\--~]{${SECRET_MIN},${SECRET_MAX}}$`);

function parseProxySecret(value: string): string {
  if (!SECRET.test(value)) {
    throw new Error(
      `must have ${SECRET_MIN} to ${SECRET_MAX} visible ASCII characters, without commas and spaces`,
    );
  }
  return value;
}

/** Values of these options, as far as they could be read. */
interface Values extends HeaderNames {
  readonly identityProxy?: readonly Network[];
  readonly identityProxyNoSecret?: string;
  readonly roles?: readonly RoleRule[];
}

/** Options that concern the provider and the proxy alike. */
type SharedName = "oidcIssuer" | "roles" | "createUsers";

/** Names of the headers of a proxy. */
interface HeaderNames {
  readonly identityProxyHeader?: string | undefined;
  readonly identityProxyEmailHeader?: string | undefined;
  readonly identityProxyGroupsHeader?: string | undefined;
}

/** Returns the contradictions between options as sentences. */
export function identityProxyProblems(
  values: Readonly<Record<string, unknown>>,
  isGiven: (name: IdentityProxyName | SharedName) => boolean,
  nameOf: (name: IdentityProxyName | SharedName) => string,
): string[] {
  const { identityProxy: networks, identityProxyNoSecret, roles, ...headers } = values as Values;
  // A list that cannot be read is a problem of its own.
  if (!networks) return [];
  const proxy = nameOf("identityProxy");
  const groupsHeader = nameOf("identityProxyGroupsHeader");
  const required = (needed: string, name: Parameters<typeof nameOf>[0]) =>
    `${needed} is required with ${nameOf(name)}.`;
  if (networks.length === 0) {
    const names = Object.keys(IDENTITY_PROXY_OPTIONS) as IdentityProxyName[];
    const given = names.find((name) => name !== "identityProxy" && isGiven(name));
    if (given !== undefined) return [required(proxy, given)];
    if (isGiven("oidcIssuer")) return [];
    const shared = (["roles", "createUsers"] as const).filter(isGiven);
    return shared.map((name) => required(`${nameOf("oidcIssuer")} or ${proxy}`, name));
  }
  const problems: string[] = [];
  const { env, fileEnv } = IDENTITY_PROXY_OPTIONS.identityProxySecret;
  if (!isGiven("identityProxySecret")) {
    if (identityProxyNoSecret !== "on") {
      problems.push(required(`${fileEnv} or ${env}`, "identityProxy"));
    } else if (!networks.every(isOnThisMachine)) {
      problems.push(
        `${fileEnv} or ${env} is required, since ${proxy} names more than this machine.`,
      );
    }
  }
  // A proxy that sends no groups passes those of its clients on, if it is not told to drop them.
  if (isGiven("roles") && !isGiven("identityProxyGroupsHeader")) {
    problems.push(required(groupsHeader, "roles"));
  }
  const groups = headers.identityProxyGroupsHeader?.toLowerCase();
  const isOff = groups === undefined && "identityProxyGroupsHeader" in headers;
  // Otherwise everyone whom the proxy names would be refused.
  if (isOff && roles && !roles.some(({ group }) => group === EVERYONE)) {
    problems.push(`${nameOf("roles")} must have an entry for *, since ${groupsHeader} is off.`);
  }
  const others = [headers.identityProxyHeader, headers.identityProxyEmailHeader];
  // Otherwise the name of a user would be the name of a group.
  if (groups !== undefined && others.some((name) => name?.toLowerCase() === groups)) {
    problems.push(`${groupsHeader} must be a header of its own.`);
  }
  return problems;
}

/** Returns true for a network within the loopback addresses. */
function isOnThisMachine([address, bits]: Network): boolean {
  return address.range() === "loopback" && bits >= (address.kind() === "ipv4" ? 8 : 128);
}

/** Returns the names of all headers that are read from a proxy, in lower case. */
export function identityHeaders(config: HeaderNames): string[] {
  const { identityProxyHeader, identityProxyEmailHeader, identityProxyGroupsHeader } = config;
  const names = [identityProxyHeader, identityProxyEmailHeader, identityProxyGroupsHeader];
  const given = names.filter((name) => name !== undefined);
  return [...new Set([...given.map((name) => name.toLowerCase()), PROXY_SECRET_HEADER])];
}
