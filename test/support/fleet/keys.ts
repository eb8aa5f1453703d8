import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FleetNode } from "./nodes";

const PAGE = `pages:
  - slug: acme
    name: Acme
    components:
      - name: API
`;

/** Creates the page `acme` with a component on a primary. */
export async function applyPage(primary: FleetNode): Promise<void> {
  const file = join(primary.folder, "acme.yaml");
  writeFileSync(file, PAGE);
  const { code, stderr } = await primary.run("apply", file);
  if (code !== 0) throw new Error(stderr);
}

/** Creates a key with these scopes by a command beside the primary. */
export async function createKeyAt(
  primary: FleetNode,
  ...scopes: string[]
): Promise<{ id: string; value: string }> {
  const flags = scopes.flatMap((scope) => ["--scope", scope]);
  const { stdout, stderr } = await primary.run(
    "key",
    "create",
    "--json",
    "--name",
    "test",
    "--rate-limit",
    "1000000",
    ...flags,
  );
  if (stdout === "") throw new Error(stderr);
  const { id, value } = JSON.parse(stdout) as { id: string; value: string };
  return { id, value };
}
