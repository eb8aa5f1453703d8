import { beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Version } from "@cyclonedx/cyclonedx-library/Spec";
import { JsonStrictValidator } from "@cyclonedx/cyclonedx-library/Validation";
import {
  type BillOfMaterials,
  billOfMaterials,
  type Component,
  thirdPartyLicences,
} from "../../deploy/release/bill-of-materials";
import manifest from "../../package.json" with { type: "json" };
import { temporaryFolder } from "../support/temporary-folder";

const ROOT = join(import.meta.dir, "../..");

let bill: BillOfMaterials;
beforeAll(async () => {
  using folder = temporaryFolder();
  bill = await billOfMaterials(folder.path);
});

function nameOf({ group, name }: Component): string {
  return group === undefined ? name : `${group}/${name}`;
}

describe("the bill of materials", () => {
  test("is valid CycloneDX", async () => {
    const validator = new JsonStrictValidator(Version.v1dot6);
    expect(bill.specVersion).toBe("1.6");
    expect(await validator.validate(JSON.stringify(bill))).toBeNull();
    const wrong = { ...bill, components: [{ ...bill.components[0], type: "none" }] };
    expect(await validator.validate(JSON.stringify(wrong))).not.toBeNull();
  });

  test("describes this version, and is equal each time", async () => {
    expect(bill.metadata.component).toMatchObject({ name: "allclear", version: manifest.version });
    using folder = temporaryFolder();
    expect(JSON.stringify(await billOfMaterials(folder.path))).toBe(JSON.stringify(bill));
    expect(JSON.stringify(bill)).not.toContain(ROOT);
  });

  test("has every dependency of package.json in its version, and none that is only for tests", () => {
    const bundled = new Map(bill.components.map((component) => [nameOf(component), component]));
    // Bun has a module of this name, which takes the place of the package.
    const { ws, ...dependencies } = manifest.dependencies;
    expect([ws, bundled.has("ws")]).toEqual([expect.any(String), false]);
    for (const [name, version] of Object.entries(dependencies)) {
      expect([name, bundled.get(name)?.version]).toEqual([name, version]);
    }
    for (const name of Object.keys(manifest.devDependencies)) {
      expect([name, bundled.has(name)]).toEqual([name, false]);
    }
    expect(bundled.has("thread-stream")).toBe(false);
  });

  test("names each package by its URL, its licence and its digest in bun.lock", () => {
    const lock = readFileSync(join(ROOT, "bun.lock"), "utf8");
    const packages = bill.components.filter(({ name }) => name !== "bun");
    expect(packages.length).toBeGreaterThan(50);
    for (const component of packages) {
      const { version, purl = "", licenses, hashes = [] } = component;
      const url = `pkg:npm/${nameOf(component).replace("@", "%40")}@${version}`;
      expect([purl, purl.split("?")[0]]).toEqual([purl, url]);
      expect([url, licenses?.[0]?.license?.id]).toEqual([url, expect.any(String)]);
      const digest = Buffer.from(hashes[0]?.content ?? "", "hex").toString("base64");
      expect(digest).toHaveLength(88);
      expect(lock).toContain(`"sha512-${digest}"`);
    }
  });

  test("has the runtime with its libraries", () => {
    const runtime = bill.components.find(({ name }) => name === "bun");
    expect(runtime).toMatchObject({ type: "platform", version: Bun.version });
    const libraries = new Map(runtime?.components?.map(({ name, version }) => [name, version]));
    expect(libraries.get("sqlite")).toBe(process.versions["sqlite"] ?? "");
    expect(libraries.get("boringssl")).toMatch(/^[0-9a-f]{40}$/);
    expect(libraries.has("node")).toBe(false);
  });

  test("connects all parts, and names none that it does not list", () => {
    const self = bill.metadata.component["bom-ref"];
    const refs = [self, ...bill.components.map((component) => component["bom-ref"])];
    expect(bill.dependencies.map(({ ref }) => ref).toSorted()).toEqual(refs.toSorted());
    const reached = new Set(bill.dependencies.flatMap(({ dependsOn = [] }) => dependsOn));
    expect([...reached, self].toSorted()).toEqual(refs.toSorted());
  });
});

test("the licences of all parts are listed with their texts", () => {
  const text = thirdPartyLicences(bill);
  for (const component of bill.components) {
    expect(text).toContain(`\n${nameOf(component)} ${component.version} (`);
  }
  expect(text).toContain(`\nlru-cache ${manifest.dependencies["lru-cache"]} (BlueOak-1.0.0)\n`);
  expect(text).not.toContain("(undefined");
  const pg = readFileSync(join(ROOT, "node_modules/pg/LICENSE"), "utf8");
  expect(text).toContain(pg.trim());
});
