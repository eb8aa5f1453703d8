import ipaddr from "ipaddr.js";
import { type Role, ROLES } from "../actor";
import { hasUserInfo, parseWebUrl } from "../web-url";
import { parseCredential } from "./mail";
import { option, parseOneOf, PRIVATE_RANGES } from "./parse";

/** Group that has everyone as its member. */
export const EVERYONE = "*";

/** Role of the members of a group. */
export interface RoleRule {
  group: string;
  role: Role;
}

/** Options of the provider. Nothing of it is loaded without an issuer. */
const PROVIDER_OPTIONS = {
  oidcIssuer: option({
    flag: "oidc-issuer",
    env: "ALLCLEAR_OIDC_ISSUER",
    parse: parseIssuer,
    default: undefined,
    placeholder: "URL",
    help: "Issuer of an OpenID Connect provider with which users sign in, exactly as it names itself.",
    scope: "sign-in",
  }),
  oidcClientId: option({
    flag: "oidc-client-id",
    env: "ALLCLEAR_OIDC_CLIENT_ID",
    parse: parseCredential,
    default: undefined,
    placeholder: "ID",
    help: "Id of Allclear at the provider.",
    scope: "sign-in",
  }),
  oidcClientSecret: option({
    flag: undefined,
    env: "ALLCLEAR_OIDC_CLIENT_SECRET",
    fileEnv: "ALLCLEAR_OIDC_CLIENT_SECRET_FILE",
    parse: parseCredential,
    default: undefined,
    placeholder: "SECRET",
    help: "Secret of Allclear at the provider, or a file that contains it; none for a public client.",
    scope: "sign-in",
  }),
  oidcName: option({
    flag: "oidc-name",
    env: "ALLCLEAR_OIDC_NAME",
    parse: parseCredential,
    default: undefined,
    placeholder: "NAME",
    help: "Name of the provider on the sign-in screen; its host if omitted.",
    scope: "sign-in",
  }),
  oidcGroupsClaim: option({
    flag: "oidc-groups-claim",
    env: "ALLCLEAR_OIDC_GROUPS_CLAIM",
    parse: parseCredential,
    default: "groups",
    placeholder: "CLAIM",
    help: "Claim with the groups of a user.",
    scope: "sign-in",
  }),
  oidcLinkByEmail: option({
    flag: "oidc-link-by-email",
    env: "ALLCLEAR_OIDC_LINK_BY_EMAIL",
    parse: parseOneOf(["off", "on"]),
    default: "off",
    placeholder: "MODE",
    help: "on: who signs in with an e-mail that the provider has verified, or that an identity proxy names, becomes the user who has it.",
    scope: "sign-in",
  }),
  oidcEmailVerified: option({
    flag: "oidc-email-verified",
    env: "ALLCLEAR_OIDC_EMAIL_VERIFIED",
    parse: parseOneOf(["required", "assume"]),
    default: "required",
    placeholder: "RULE",
    help: "required: new users need email_verified; assume: for a provider that never says it.",
    scope: "sign-in",
  }),
} as const;

/** Options of sign-ins without a password of Allclear, and of those with one. */
export const SIGN_IN_OPTIONS = {
  ...PROVIDER_OPTIONS,
  roles: option<readonly RoleRule[]>({
    flag: "roles",
    env: "ALLCLEAR_ROLES",
    parse: parseRoles,
    default: undefined,
    placeholder: "GROUP=ROLE;…",
    help: "Roles by the groups of the provider or the identity proxy, such as sre=admin; support=editor; *=viewer. The highest match applies at each sign-in, and no match is refused. If omitted, new users are viewers, and owners set roles.",
    scope: "sign-in",
  }),
  createUsers: option({
    flag: "create-users",
    env: "ALLCLEAR_CREATE_USERS",
    parse: parseOneOf(["on", "off"]),
    default: "on",
    placeholder: "MODE",
    help: "off: provider and identity proxy let in only users who were invited or are connected.",
    scope: "sign-in",
  }),
  localSignIn: option({
    flag: "local-sign-in",
    env: "ALLCLEAR_LOCAL_SIGN_IN",
    parse: parseOneOf(["all", "owners"]),
    default: "all",
    placeholder: "WHO",
    help: "Users who may sign in with a password: all, or owners.",
    scope: "sign-in",
  }),
  secondFactor: option<Role | "none">({
    flag: "second-factor",
    env: "ALLCLEAR_SECOND_FACTOR",
    parse: parseOneOf(["none", ...ROLES]),
    default: "none",
    placeholder: "ROLE",
    help: "Lowest role whose users need a second factor to sign in with a password: none, owner, admin, editor or viewer.",
    scope: "sign-in",
  }),
} as const;

type SignInOptionName = keyof typeof SIGN_IN_OPTIONS;

/** Names of options without a default. */
export type OptionalSignInName =
  "oidcIssuer" | "oidcClientId" | "oidcClientSecret" | "oidcName" | "roles";

const ISSUER_MAX = 500;

/** Parses an issuer. Returns it unchanged, since it is compared letter by letter. */
function parseIssuer(value: string): string {
  const url = parseWebUrl(value);
  if (!url || value !== value.trim() || value.length > ISSUER_MAX) {
    throw new Error("must be a URL, such as https://login.example.com");
  }
  if (hasUserInfo(url) || /[?#]/.test(value)) {
    throw new Error("must be an address without credentials, query and fragment");
  }
  // The address of a name is known, and examined, only when it is reached.
  if (url.protocol === "http:" && isPublicLiteral(url.hostname)) {
    throw new Error("must begin with https://, since http:// is only for private addresses");
  }
  return value;
}

/** Returns true if a host is an IP address outside of private networks. */
function isPublicLiteral(hostname: string): boolean {
  const text = hostname.replaceAll(/[[\]]/g, "");
  return ipaddr.isValid(text) && !PRIVATE_RANGES.has(ipaddr.process(text).range());
}

/** Parses `group=role` entries, separated by semicolons. The name of a group may contain `=`. */
function parseRoles(value: string): readonly RoleRule[] {
  const entries = value
    .split(";")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
  // Without an entry, every sign-in with the provider would be refused.
  if (entries.length === 0) throw new Error("is empty");
  return entries.map((entry) => {
    const at = entry.lastIndexOf("=");
    const group = entry.slice(0, Math.max(0, at)).trim();
    const role = ROLES.find((one) => one === entry.slice(at + 1).trim());
    if (group === "" || role === undefined) {
      throw new Error(
        `must list groups and roles (${ROLES.join(", ")}), such as sre=admin; *=viewer, and ${entry} is no entry`,
      );
    }
    return { group, role };
  });
}

/** Returns the contradictions between options as sentences. */
export function signInProblems(
  isGiven: (name: SignInOptionName | "identityProxy") => boolean,
  nameOf: (name: SignInOptionName) => string,
): string[] {
  if (isGiven("oidcIssuer")) {
    return isGiven("oidcClientId")
      ? []
      : [`${nameOf("oidcClientId")} is required with ${nameOf("oidcIssuer")}.`];
  }
  const names = Object.keys(PROVIDER_OPTIONS) as SignInOptionName[];
  const counts = (name: SignInOptionName) =>
    isGiven(name) && !(name === "oidcLinkByEmail" && isGiven("identityProxy"));
  const given = names.find(counts);
  return given === undefined ? [] : [`${nameOf("oidcIssuer")} is required with ${nameOf(given)}.`];
}
