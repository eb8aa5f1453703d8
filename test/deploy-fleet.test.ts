import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import ipaddr from "ipaddr.js";
import { parseAllDocuments } from "yaml";
import { serveCommand } from "../src/cli/serve";
import type { Option } from "../src/base/config/parse";
import { OPTIONS } from "../src/base/config/options";

const FOLDER = join(import.meta.dir, "../deploy/fleet");

interface Node {
  variables: Record<string, string>;
  args: string[];
}

/** Reads the documents of a file in deploy/fleet. */
async function read(file: string): Promise<any[]> {
  const text = await Bun.file(join(FOLDER, file)).text();
  return parseAllDocuments(text, { merge: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0];
    return document.toJS();
  });
}

const [compose] = await read("compose.yaml");
const [statefulSet] = await read("kubernetes/nodes.yaml");
const services = await read("kubernetes/services.yaml");
const [secret] = await read("kubernetes/secret.yaml");
const [container] = statefulSet.spec.template.spec.containers;

/** Nodes of the samples by name. */
const NODES: Record<string, Node> = {
  ...Object.fromEntries(
    ["a", "b", "c"].map((name) => {
      const { environment, command } = compose.services[name];
      return [name, { variables: environment, args: command }];
    }),
  ),
  kubernetes: {
    args: container.args,
    variables: Object.fromEntries(container.env.map((one: any) => [one.name, one.value ?? ""])),
  },
};

const options: readonly Option<unknown>[] = Object.values(OPTIONS);

describe("the samples in deploy/fleet", () => {
  test.each(Object.entries(NODES))("%s has only settings that exist", (_name, node) => {
    const known = options.flatMap(({ env, fileEnv = "" }) => [env, fileEnv]);
    const variables = Object.keys(node.variables).filter((name) => name !== "POD_NAME");
    expect(variables.filter((name) => !known.includes(name))).toEqual([]);
    const flags = node.args.filter((arg) => arg.startsWith("--")).map((arg) => arg.slice(2));
    const switches = (serveCommand.flags ?? []).map(({ name }) => name);
    const declared = [...options.map(({ flag }) => flag), ...switches];
    expect(flags.filter((flag) => !declared.includes(flag))).toEqual([]);
    expect(node.args[0]).toBe("serve");
  });

  test.each(Object.entries(NODES))("%s can be reached at its fleet address", (name, node) => {
    const listen = node.variables["ALLCLEAR_FLEET_LISTEN"] ?? "";
    const address = new URL(
      (node.variables["ALLCLEAR_FLEET_ADDRESS"] ?? "").replace("$(POD_NAME)", "allclear-0"),
    );
    expect(listen).toBe(`0.0.0.0:${address.port}`);
    const host = name === "kubernetes" ? "allclear-0.allclear-nodes" : name;
    expect(address.hostname).toBe(host);
  });

  test("the nodes of Compose share store, secrets and Valkey, and one of them is the primary", () => {
    const of = (name: string) =>
      ["a", "b", "c"].map((node) => NODES[node]?.variables[name] as string);
    for (const name of ["STORE", "STORE_KEY_ID", "STORE_SECRET", "SECRET"]) {
      expect(new Set(of(`ALLCLEAR_FLEET_${name}`)).size).toBe(1);
    }
    expect(new Set(of("ALLCLEAR_VALKEY_URL")).size).toBe(1);
    const replicas = Object.values(NODES).map(({ args }) => args.includes("--replica"));
    expect(replicas).toEqual([false, true, true, true]);
  });

  test("Docker gives the address of the proxy to no other container", () => {
    const [{ subnet, ip_range: range }] = compose.networks.fleet.ipam.config;
    const address = ipaddr.parse(compose.services.caddy.networks.fleet.ipv4_address);
    expect(address.match(ipaddr.parseCIDR(subnet))).toBe(true);
    expect(address.match(ipaddr.parseCIDR(range))).toBe(false);
  });

  test("every node of Compose is built, and all are the image with Litestream", () => {
    for (const name of ["a", "b", "c"]) {
      const { build, image } = compose.services[name];
      expect([build.target, image], name).toEqual(["fleet", "allclear-fleet"]);
    }
  });

  test("the old primary of Compose can be promoted again", () => {
    expect(NODES["a"]?.args).toContain("--rejoin");
    const eligible = ["a", "b", "c"].filter((name) => NODES[name]?.args.includes("--eligible"));
    expect(eligible).toEqual(["a", "b"]);
  });

  test("the private listener is not published", () => {
    for (const [name, { ports = [] }] of Object.entries<any>(compose.services)) {
      expect(ports, name).toEqual(name === "caddy" ? ["127.0.0.1:8080:80"] : []);
    }
    const [ingress, nodes] = services;
    expect(ingress.spec.ports.map((port: any) => port.targetPort)).toEqual(["http"]);
    expect(nodes.spec.clusterIP).toBe("None");
    expect(statefulSet.spec.serviceName).toBe(nodes.metadata.name);
  });

  test("every file with a secret is a key of the Secret, which has no values", () => {
    const files = Object.entries(NODES["kubernetes"]?.variables ?? {})
      .filter(([name]) => name.endsWith("_FILE"))
      .map(([, path]) => path.replace("/secrets/", ""));
    expect(files.toSorted()).toEqual(Object.keys(secret.stringData).toSorted());
    expect(Object.values(secret.stringData).join("")).toBe("");
  });

  test("the probes ask what only a process, and a node that can serve pages, answers with 200", () => {
    expect(container.livenessProbe.httpGet.path).toBe("/healthz");
    expect(container.readinessProbe.httpGet.path).toBe("/readyz");
  });

  test("the proxy of Compose asks each kind of request for its own health, at every node", async () => {
    const caddyfile = await Bun.file(join(FOLDER, "Caddyfile")).text();
    expect([...caddyfile.matchAll(/health_uri (\S+)/g)].map(([, path]) => path)).toEqual([
      "/readyz/api",
      "/readyz",
    ]);
    expect([...caddyfile.matchAll(/reverse_proxy (.*) \{/g)].map(([, nodes]) => nodes)).toEqual([
      "a:8080 b:8080 c:8080",
      "a:8080 b:8080 c:8080",
    ]);
    const { ipv4_address: address } = compose.services.caddy.networks.fleet;
    expect(NODES["a"]?.variables["ALLCLEAR_TRUSTED_PROXIES"]).toBe(address);
  });
});
