import { Type } from "@sinclair/typebox";
import type { Proxy } from "../../../egress/model";
import { type FieldError, pointer } from "../../../base/errors";
import { SecretPart } from "../../../base/secrets";
import { HttpUserName } from "./fields";
import { HTTP_SCHEMES, parseUrl, Url, urlError } from "./urls";

/** HTTP proxy of the checks of a monitor. */
export interface ProxySettings {
  url: string;
  username?: string;
  /** Secret. */
  password?: string | null;
}

export const ProxyBody = Type.Object(
  {
    url: Url(HTTP_SCHEMES, "http://proxy.example.com:3128"),
    username: Type.Optional(HttpUserName),
    password: SecretPart(1_000),
  },
  {
    additionalProperties: false,
    description:
      "HTTP proxy of all connections of the checks (CONNECT). Names are resolved by Allclear, so the proxy gets addresses.",
  },
);

/** Returns errors that the schema cannot express; pointers start at the config of the monitor. */
export function validateProxy({ url, username, password }: ProxySettings): FieldError[] {
  const faults: FieldError[] = [];
  const problem = urlError(url, HTTP_SCHEMES, "use username and password") ?? pathProblem(url);
  if (problem) faults.push({ pointer: pointer("proxy", "url"), detail: problem });
  if (password && username === undefined) {
    faults.push({ pointer: pointer("proxy", "username"), detail: "is required for a password" });
  }
  return faults;
}

function pathProblem(text: string): string | undefined {
  const url = parseUrl(text);
  return url && `${url.pathname}${url.search}${url.hash}` !== "/"
    ? "must be a host and a port only, such as http://proxy.example.com:3128"
    : undefined;
}

/** Returns the proxy of a request; undefined without settings. */
export function proxyOf(settings: ProxySettings | null): Proxy | undefined {
  const url = settings ? parseUrl(settings.url) : undefined;
  return url && { url, username: settings?.username ?? "", password: settings?.password ?? "" };
}
