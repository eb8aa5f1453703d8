import { expect, setDefaultTimeout, test } from "bun:test";
import { createInstallation, PROCESS_TEST_MS } from "../support/binary";

setDefaultTimeout(PROCESS_TEST_MS);

test("an export from a running server is unchanged for `apply` there and creates the same elsewhere", async () => {
  await using site = await createInstallation();
  const names = Array.from({ length: 500 }, (_, n) => `Component ${n}: “${n % 7}” #${n}`);
  await site.createPage("acme", names);
  await using other = await createInstallation();
  await site.serve();

  const { exitCode, stdout, stderr } = await site.run(["export"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(stdout.match(/^ {6}- name: /gm)).toHaveLength(500);
  const file = site.path("exported.yaml");
  await Bun.write(file, stdout);
  const nothing = { exitCode: 0, stdout: "", stderr: "Nothing to change.\n" };
  expect(await site.run(["apply", file, "--prune"])).toEqual(nothing);

  const made = await other.run(["apply", file]);
  expect(made.stderr).toBe("Created 501, changed 0, removed 0.\n");
  expect((await other.run(["export"])).stdout).toBe(stdout);
});
