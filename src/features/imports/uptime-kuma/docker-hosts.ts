import { numberedRef } from "../../../base/ids";
import { toRef } from "../../../base/text";
import { idOf } from "./data";
import { type Row, text } from "./values";

/** Name that ALLCLEAR_DOCKER_HOSTS can define. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** Path of a socket that can be a setting. */
const SOCKET = /^\/[A-Za-z0-9_./-]{1,200}$/;

/** Returns the names of Docker hosts here, by their ids. */
export function dockerNames(hosts: readonly Row[]): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const taken = new Set<string>();
  for (const host of hosts) {
    const name = text(host["name"]).trim();
    const wanted = NAME.test(name) ? name : toRef(name) || "docker";
    let count = 1;
    while (taken.has(numberedRef(wanted, count))) count += 1;
    const free = numberedRef(wanted, count);
    taken.add(free);
    names.set(idOf(host), free);
  }
  return names;
}

/** Returns the instruction that defines hosts; undefined without any. */
export function dockerInstruction(
  hosts: readonly Row[],
  names: ReadonlyMap<number, string>,
): string | undefined {
  const parts = hosts.map((host) => `${names.get(idOf(host))}=${addressOf(host)}`);
  return parts.length === 0
    ? undefined
    : `Set ALLCLEAR_DOCKER_HOSTS=${parts.join(",")}, restart, and resume the monitors of containers.`;
}

function addressOf({ docker_type: type = null, docker_daemon: daemon = null }: Row): string {
  const address = text(daemon);
  // Any other text could hold more than a path.
  if (text(type) === "socket") return `unix://${SOCKET.test(address) ? address : "/PATH"}`;
  const url = URL.parse(address.replace(/^\w+:/, "tcp:"));
  return `tcp://${url?.host ?? "HOST:PORT"}`;
}
