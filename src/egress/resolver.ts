import { parseHost } from "./host";

/** `address`, `address:port` or `[v6]:port`; undefined if it is none of them. */
export function parseResolver(text: string): { address: string; port: number } | undefined {
  const [, bracketed, plain, port = "53"] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = parseHost(bracketed ?? plain ?? text);
  const number = Number(port);
  if (!host?.isAddress || number < 1 || number > 65_535) return undefined;
  return { address: host.name, port: number };
}
