/** Lists what the executable contains, as a CycloneDX bill of materials, and the licences of it. */
import { join } from "node:path";
import { cyclonedxEsbuildPlugin } from "@cyclonedx/cyclonedx-esbuild";
import type { BunPlugin } from "bun";
import { BUNDLE } from "../bundle";

const ROOT = join(import.meta.dir, "../..");

/** A part of the executable. `bom-ref` names it within the bill. */
export interface Component {
  type: string;
  "bom-ref": string;
  group?: string;
  name: string;
  version: string;
  description?: string;
  purl?: string;
  /** Excluded if the bundler found it and put nothing of it into the executable. */
  scope?: "required" | "excluded";
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  hashes?: { alg: "SHA-512"; content: string }[];
  evidence?: { licenses?: { license: { text: { content: string } } }[] };
  externalReferences?: { type: string; url: string }[];
  /** Parts of this part. */
  components?: Component[];
}

/** The fields of a bill that a release reads or changes. */
export interface BillOfMaterials {
  specVersion: string;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

/**
 * Returns the bill of the bundled packages with the texts of their licences and their digests in bun.lock, and of the runtime.
 * It has no date and no random number. `folder` is for a temporary file.
 */
export async function billOfMaterials(folder: string): Promise<BillOfMaterials> {
  const outputFile = join(folder, "bill-of-materials.json");
  const inventory = cyclonedxEsbuildPlugin({
    outputFile,
    outputReproducible: true,
    gatherLicenseTexts: true,
    logLevel: "silent",
  }) as unknown as BunPlugin;
  await Bun.build({ ...BUNDLE, metafile: true, plugins: [...BUNDLE.plugins, inventory] });
  const bill = (await Bun.file(outputFile).json()) as BillOfMaterials;

  const digests = await readDigests();
  // A package of which nothing is used is listed as excluded, one of left-out.ts as without a file.
  const used = bill.components.filter(({ scope, purl }) => scope !== "excluded" && purl);
  const packages = used.map((component): Component => {
    const { group, name, version } = component;
    const id = `${group === undefined ? "" : `${group}/`}${name}@${version}`;
    const digest = digests.get(id);
    if (digest === undefined) throw new Error(`${id} is bundled, and bun.lock has no digest of it`);
    return { ...component, hashes: [{ alg: "SHA-512", content: digest }] };
  });

  const runtime = runtimeComponent();
  const self = bill.metadata.component["bom-ref"];
  const refs = new Set([self, ...packages.map((component) => component["bom-ref"])]);
  const dependencies = bill.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((on) => refs.has(on)) }));
  // The bundler does not say what imports a part of which it took single files.
  const reached = new Set(dependencies.flatMap(({ dependsOn }) => dependsOn));
  const others = [...refs].filter((ref) => ref !== self && !reached.has(ref));
  dependencies.find(({ ref }) => ref === self)?.dependsOn.push(...others, runtime["bom-ref"]);
  return {
    ...bill,
    components: [...packages, runtime],
    dependencies: [...dependencies, { ref: runtime["bom-ref"], dependsOn: [] }],
  };
}

/** Returns the SHA-512 of packages by name and version, such as `pg@8.23.1`, in hexadecimal digits. */
async function readDigests(): Promise<Map<string, string>> {
  const text = await Bun.file(join(ROOT, "bun.lock")).text();
  const { packages } = Bun.JSONC.parse(text) as Bun.BunLockFile;
  const digests = new Map<string, string>();
  for (const [id, ...more] of Object.values(packages)) {
    const integrity = more.at(-1);
    if (typeof integrity !== "string" || !integrity.startsWith("sha512-")) continue;
    digests.set(id, Buffer.from(integrity.slice("sha512-".length), "base64").toString("hex"));
  }
  return digests;
}

/** Versions that are none of a part: of Bun itself, and those that programs for Node.js expect. */
const NO_PARTS: ReadonlySet<string> = new Set([
  "bun",
  "modules",
  "napi",
  "node",
  "openssl",
  "uv",
  "v8",
]);

/** Returns Bun with the libraries that it names. */
function runtimeComponent(): Component {
  const ref = `bun@${Bun.version}`;
  const libraries = Object.entries(process.versions).filter(([name]) => !NO_PARTS.has(name));
  return {
    type: "platform",
    "bom-ref": ref,
    name: "bun",
    version: Bun.version,
    description: "The runtime, which is part of the executable.",
    licenses: [{ license: { id: "MIT" } }],
    purl: `pkg:npm/bun@${Bun.version}`,
    externalReferences: [{ type: "license", url: "https://bun.com/docs/project/licensing" }],
    components: libraries
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, version = ""]) => ({
        type: "library",
        "bom-ref": `${ref}/${name}`,
        name,
        version,
        purl: `pkg:generic/${name}@${version}`,
      })),
  };
}

/** Returns the licences of all parts with their texts, which have to be in every copy of the executable. */
export function thirdPartyLicences({ components }: BillOfMaterials): string {
  const chapters = components.map((component) => {
    const { group, name, version, licenses = [], evidence, externalReferences = [] } = component;
    const full = `${group === undefined ? "" : `${group}/`}${name} ${version}`;
    const names = licenses.map(
      ({ license, expression }) => expression ?? license?.id ?? license?.name,
    );
    const texts = (evidence?.licenses ?? []).map(({ license }) =>
      Buffer.from(license.text.content, "base64").toString().replaceAll("\r\n", "\n").trim(),
    );
    const links = externalReferences.filter(({ type }) => type === "license");
    const title = `${full} (${names.join(", ")})`;
    return [title, ...texts, ...links.map(({ url }) => url)].join("\n\n");
  });
  const line = `\n\n${"-".repeat(80)}\n\n`;
  const head = "The executable of Allclear contains these parts, each under its own licence.";
  return `${[head, ...chapters].join(line)}\n`;
}
