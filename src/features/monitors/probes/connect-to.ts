import { type Static, Type } from "@sinclair/typebox";
import { formatHost } from "../../../base/config/parse";
import type { HttpRequest } from "../../../egress/model";
import { hostError, monitorPolicy, parseHost } from "../../../egress/policy";
import { type FieldError, pointer } from "../../../base/errors";
import { Text } from "../../../base/schema";
import { HostText, PortNumber } from "./fields";

/*
 * Fields of a config for a server that is reached at another address than that of its name, or by another name than
 * that of its address.
 */

export const ConnectToBody = Type.Object(
  {
    address: {
      ...HostText,
      description: "Host name or IP address, to which the rules for addresses of monitors apply.",
      examples: ["10.0.0.5"],
    },
    port: Type.Optional({ ...PortNumber, description: "Default: the port of the server." }),
  },
  {
    additionalProperties: false,
    description: "Address of the connection, in the place of the one that the name has.",
  },
);
export type ConnectTo = Static<typeof ConnectToBody>;

/** Schema of the host by which a web server is known. */
export const KnownHost = Text({
  minLength: 1,
  maxLength: 255,
  isName: true,
  check: (text) =>
    readKnownHost(text) ? undefined : "must be a host name or an IP address, and may have a port",
  description:
    "Host by which the server is known, with a port if the header Host needs one: for that header, the name in TLS (SNI) and the verification of the certificate. Default: that of the URL.",
  examples: ["app.example.com"],
});

/** Returns a host with an optional port as a URL has it; undefined for another text. */
function readKnownHost(text: string): { host: string; port: string } | undefined {
  const [, name = "", port = ""] = /^(\[[^\]]+\]|[^:]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = parseHost(name);
  const isPort = port === "" || (Number(port) >= 1 && Number(port) <= 65_535);
  return host && isPort ? { host: formatHost(host.name), port } : undefined;
}

/** Fields of an HTTP config about the host of its server. */
interface HostFields {
  host?: string | null;
  connect_to?: ConnectTo | null;
}

/** Returns errors that the schema cannot express; pointers start at the config of the monitor. */
export function validateConnectTo({ connect_to: to }: HostFields): FieldError[] {
  const detail = to ? hostError(to.address, monitorPolicy) : undefined;
  return detail === undefined ? [] : [{ pointer: pointer("connect_to", "address"), detail }];
}

/** Returns the part of a request to the server of a URL that the fields decide. */
export function hostPartsOf(
  url: URL,
  { host, connect_to: to }: HostFields,
): Pick<HttpRequest, "hostName" | "connectTo"> {
  const { address = url.hostname, port = url.port === "" ? undefined : Number(url.port) } =
    to ?? {};
  return {
    ...(host != null && { hostName: hostNameOf(host) }),
    connectTo: { host: address, port },
  };
}

/** Returns the URL by which the server knows itself: that of the config with the host of its own. */
export function ownUrlOf(url: URL, { host }: HostFields): URL {
  if (host == null) return url;
  return URL.parse(`${url.protocol}//${hostNameOf(host)}${url.pathname}${url.search}`) ?? url;
}

function hostNameOf(text: string): string {
  const { host, port } = readKnownHost(text) ?? { host: text, port: "" };
  return port === "" ? host : `${host}:${port}`;
}

/** Names the place to which secrets go beside the origin of the URL; none without the fields. */
export function placeOf({ host, connect_to: to }: HostFields): string {
  return [host ?? "", to?.address ?? "", to?.port ?? ""].join(" ").trim();
}
