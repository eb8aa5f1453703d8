import { readFileSync } from "node:fs";
import { parseWebUrl } from "../web-url";
import { type ListenAddress, option, parseNetworks, parseOneOf, parseTargets, text } from "./parse";

/** HTTP proxy for the requests that this server sends by itself. */
interface OutboundProxy {
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
  const url = parseWebUrl(text.trim());
  if (!url || `${url.pathname}${url.search}${url.hash}` !== "/") {
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

/** Socket of a Docker host: a file of this machine, or an address. */
export type DockerAddress = { path: string } | ListenAddress;

/** Docker hosts by the names that monitors give them. */
export type DockerHosts = ReadonlyMap<string, DockerAddress>;

/** Declares an option of the labels of containers. */
function mode(flag: string, name: string, usual: "on" | "off", help: string) {
  return option({
    flag: `docker-${flag}`,
    env: `ALLCLEAR_DOCKER_${name}`,
    parse: parseOneOf(["on", "off"]),
    default: usual,
    placeholder: "MODE",
    help,
    scope: "serve",
  });
}

/** Options of the Docker hosts that monitors may name. Nobody else can name a socket. */
export const DOCKER_OPTIONS = {
  dockerHosts: option<DockerHosts>({
    flag: "docker-hosts",
    env: "ALLCLEAR_DOCKER_HOSTS",
    parse: parseDockerHosts,
    default: "",
    placeholder: "NAME=URL,…",
    help: "Docker hosts whose containers monitors may check, such as local=unix:///var/run/docker.sock,nas=tcp://10.0.0.5:2376.",
    scope: "serve",
  }),
  dockerLabels: mode("labels", "LABELS", "on", "off: labels of containers declare no monitors."),
  dockerPrune: mode(
    "prune",
    "PRUNE",
    "off",
    "on: delete monitors of labels ten minutes after their containers were removed.",
  ),
  dockerTlsDir: option({
    flag: "docker-tls-dir",
    env: "ALLCLEAR_DOCKER_TLS_DIR",
    parse: text,
    default: undefined,
    placeholder: "DIR",
    help: "Directory with a subdirectory for each tcp:// Docker host, named like the host: ca.pem, and cert.pem and key.pem for a client certificate. Omit it for hosts without TLS.",
    scope: "serve",
  }),
} as const;

/** Parses a list of `name=unix:///path` and `name=tcp://host:port`, separated by commas or spaces. */
function parseDockerHosts(value: string): DockerHosts {
  const hosts = new Map<string, DockerAddress>();
  for (const part of value.split(/[\s,]+/).filter((each) => each !== "")) {
    const [, name, scheme, rest = ""] =
      /^([A-Za-z0-9][A-Za-z0-9_.-]{0,62})=(unix|tcp):\/\/(.+)$/.exec(part) ?? [];
    const address = scheme === "unix" ? socketAt(rest) : tcpAddress(rest);
    if (name === undefined || !address) {
      throw new Error(
        `must list hosts such as local=unix:///var/run/docker.sock, and ${part} is not one`,
      );
    }
    if (hosts.has(name)) throw new Error(`must name each host once, and ${name} is named twice`);
    hosts.set(name, address);
  }
  return hosts;
}

function socketAt(path: string): DockerAddress | undefined {
  return path.startsWith("/") ? { path } : undefined;
}

function tcpAddress(target: string): ListenAddress | undefined {
  try {
    return parseTargets(target)[0];
  } catch {
    return undefined;
  }
}

/** Certificates of authorities, from a file. */
interface CertificateFile {
  path: string;
  /** Text of the file (PEM). */
  pem: string;
}

/** Limit of the certificates' text, in characters. */
const PEM_MAX = 65_536;
/** Limit of a file with authorities for all connections. A bundle of all public ones has 220,000 characters. */
const BUNDLE_MAX = 1_000_000;

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Reads a file with authorities for all connections. Throws as `readCertificates` does. */
export function readBundle(path: string): CertificateFile {
  return readCertificates(path, BUNDLE_MAX);
}

/** Reads a file with certificates. Throws an Error whose message ends the sentence "X …". */
export function readCertificates(path: string, maxLength = PEM_MAX): CertificateFile {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    const { code = "no reason given" } = error as NodeJS.ErrnoException;
    throw new Error(`must name a file that can be read (${code})`, { cause: error });
  }
  const problem = certificatesError(pem, maxLength);
  if (problem !== undefined) throw new Error(`names a file that ${problem}`);
  return { path, pem };
}

/** Returns the error of a text with certificates, as the end of the sentence "It …"; undefined without one. */
export function certificatesError(pem: string, maxLength = PEM_MAX): string | undefined {
  if (pem.length > maxLength) {
    return `must have at most ${maxLength.toLocaleString("en")} characters`;
  }
  // A private key that was pasted by mistake must not be stored.
  if (pem.includes("PRIVATE KEY")) return "must not contain a private key";
  const certificates = pem.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) return "must contain certificates in PEM";
  // Loaded here, since few installations have certificates of their own.
  const { X509Certificate } = process.getBuiltinModule("node:crypto");
  for (const [index, text] of certificates.entries()) {
    try {
      new X509Certificate(text);
    } catch {
      return `must contain valid certificates, and number ${index + 1} is not one`;
    }
  }
  return undefined;
}

/** Returns the authorities (PEM) of the runtime, with those of NODE_EXTRA_CA_CERTS, and further ones. */
export function trustedAuthorities(further: readonly string[]): string[] {
  // Loaded here, since few installations have certificates of their own.
  return [...process.getBuiltinModule("node:tls").getCACertificates("default"), ...further];
}
