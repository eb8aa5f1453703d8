/** Parts of the connection string of a database. */
export interface Connection {
  scheme: string;
  host: string;
  port: number | undefined;
  user: string | undefined;
  password: string | undefined;
  /** First part of the path. */
  database: string | undefined;
  parameters: ReadonlyMap<string, string>;
}

/**
 * Reads a connection string that is a URL. Undefined for other texts, such as paths of sockets, and for several
 * hosts.
 */
export function readConnection(text: string): Connection | undefined {
  const url = URL.parse(text.trim());
  if (!url) return undefined;
  const parameters = new Map(url.searchParams);
  const host = decoded(url.hostname).replace(/^\[|\]$/g, "") || parameters.get("host") || "";
  // A path instead of a name is a socket of that machine.
  if (host === "" || /[/,]/.test(host)) return undefined;
  const port = url.port || (parameters.get("port") ?? "");
  return {
    scheme: url.protocol.slice(0, -1),
    host,
    port: /^\d+$/.test(port) ? Number(port) : undefined,
    user: decoded(url.username) || parameters.get("user") || undefined,
    password: decoded(url.password) || parameters.get("password") || undefined,
    database: decoded(url.pathname.slice(1)) || undefined,
    parameters,
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
