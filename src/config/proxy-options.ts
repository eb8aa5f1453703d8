import { option } from "./option";
import { parseNetworks, parseOneOf } from "./parse";

/** HTTP proxy for the requests that this server sends by itself. */
export interface OutboundProxy {
  /** http or https, a host and a port. */
  url: string;
  /** Empty for no credentials. */
  username: string;
  /** It must not be shown. */
  password: string;
}

const FORM = "http://proxy.example.com:3128, with http or https, a host and a port";

/** Form in which a proxy gets the target of a request. */
const TARGETS = ["address", "name"] as const;

/** Options of the proxy. Nothing of it is used without --outbound-proxy. */
export const PROXY_OPTIONS = {
  outboundProxy: option<OutboundProxy>({
    flag: "outbound-proxy",
    env: "ALLCLEAR_OUTBOUND_PROXY",
    fileEnv: "ALLCLEAR_OUTBOUND_PROXY_FILE",
    parse: parseOutboundProxy,
    default: undefined,
    placeholder: "URL",
    help: "HTTP proxy of webhooks and other requests of this server, such as http://proxy.example.com:3128. A URL with a password belongs into the variable, or a file that contains it. Monitors have proxies of their own.",
    scope: "serve",
    isHidden: true,
  }),
  noProxy: option({
    flag: "no-proxy",
    env: "ALLCLEAR_NO_PROXY",
    parse: parseNoProxy,
    default: "",
    placeholder: "HOST,…",
    help: "Hosts that are reached without the proxy: names with all names below them, addresses and networks, such as example.com,10.0.0.0/8.",
    scope: "serve",
  }),
  outboundProxyTarget: option({
    flag: "outbound-proxy-target",
    env: "ALLCLEAR_OUTBOUND_PROXY_TARGET",
    parse: parseOneOf(TARGETS),
    default: "address",
    placeholder: "FORM",
    help: "address: names are resolved and checked here, and the proxy gets a checked address; name: the proxy gets names and resolves them, and must refuse private addresses itself.",
    scope: "serve",
  }),
} as const;

/** Options of commands that send requests. */
export const PROXY_OPTION_NAMES = [
  "outboundProxy",
  "noProxy",
  "outboundProxyTarget",
] as const satisfies readonly (keyof typeof PROXY_OPTIONS)[];

/** Parses the URL of a proxy. No message contains it, since it may have a password. */
function parseOutboundProxy(text: string): OutboundProxy {
  const url = URL.parse(text.trim());
  if (
    !url ||
    !/^https?:$/.test(url.protocol) ||
    `${url.pathname}${url.search}${url.hash}` !== "/"
  ) {
    throw new Error(`must be a URL such as ${FORM}`);
  }
  if (url.username === "" && url.password !== "") throw new Error("must have a user name");
  try {
    const [username, password] = [url.username, url.password].map(decodeURIComponent);
    // The first colon ends the name in Basic authentication.
    if (username?.includes(":")) throw new Error("a colon");
    return { url: url.origin, username: username ?? "", password: password ?? "" };
  } catch {
    throw new Error("must have a user name without a colon, and percent signs only in escapes");
  }
}

/** Parses hosts, separated by commas or spaces. Returns names in lower case and ASCII, without dots around them. */
function parseNoProxy(text: string): readonly string[] {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map((part) => {
      if (part === "*") return part;
      if (/[/:]/.test(part) || /^[\d.]+$/.test(part)) {
        parseNetworks(part.replace(/^\[|\]$/g, ""));
        return part.replace(/^\[|\]$/g, "");
      }
      const name = URL.parse(`http://${part.replace(/^\*?\.|\.$/g, "")}/`)?.hostname;
      if (name === undefined || !/^[a-z0-9._-]+$/.test(name)) {
        throw new Error(`must list names, addresses and networks, and ${part} is none`);
      }
      return name;
    });
}

/** Returns the contradictions between options as sentences. */
export function proxyProblems(
  values: Readonly<Record<string, unknown>>,
  sourceOf: (name: keyof typeof PROXY_OPTIONS) => "flag" | "variable" | "default" | undefined,
): string[] {
  const { flag, env } = PROXY_OPTIONS.outboundProxy;
  const proxy = values["outboundProxy"] as OutboundProxy | undefined;
  if (!proxy?.password || sourceOf("outboundProxy") !== "flag") return [];
  return [`--${flag} must not have a password, since other processes can read it. Set ${env}.`];
}
