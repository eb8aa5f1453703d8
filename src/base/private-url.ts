import ipaddr from "ipaddr.js";

/** Returns true if only the server can read a request to a URL: over HTTPS, or within this machine. */
export function isPrivateUrl({ protocol, hostname }: URL): boolean {
  const host = hostname.replace(/^\[|\]$/g, "");
  const isLoopback = ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
  return protocol === "https:" || host === "localhost" || isLoopback;
}
