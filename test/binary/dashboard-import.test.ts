import { Database } from "bun:sqlite";
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createInstallation,
  holds,
  type Installation,
  PROCESS_TEST_MS,
  type Server,
} from "../support/binary";
import { signInOwner } from "../support/first-owner";
import { readHtml } from "../support/html";
import { answerOf, HEALTHCHECKS } from "../support/import-dashboard";
import { checkOf, UUIDS } from "../support/import-site";
import { multipart } from "../support/multipart";

setDefaultTimeout(PROCESS_TEST_MS);

/** Plans an import of one check and returns the path of the plan. */
async function plan(server: Server, cookie: string): Promise<string> {
  const { body, type } = multipart([
    { name: "source", text: "default" },
    { name: "internal_page", text: "internal" },
    { name: "file", filename: "checks.json", bytes: answerOf(checkOf(UUIDS[0])) },
  ]);
  const headers = { cookie, origin: server.url, "content-type": type };
  const answer = await server.fetch(HEALTHCHECKS, { method: "POST", headers, body });
  return answer.headers.get("location") ?? "";
}

async function confirm(server: Server, cookie: string, path: string): Promise<void> {
  const type = "application/x-www-form-urlencoded";
  const headers = { cookie, origin: server.url, "content-type": type };
  await server.fetch(path, { method: "POST", headers, body: "" });
}

const uploadsOf = ({ dataDir }: Installation) => {
  const folder = join(dataDir, "import-uploads");
  return existsSync(folder) ? readdirSync(folder) : [];
};

describe.each([
  ["the executable", false],
  ["the sources", true],
])("an import by dashboard from %s", (_, isFromSources) => {
  test("is soon in force, and refused while another process imports", async () => {
    await using site = await createInstallation({ isFromSources });
    const { value: key } = await site.createKey(["read:status", "manage:monitors"]);
    mkdirSync(join(site.dataDir, "import-uploads"));
    writeFileSync(join(site.dataDir, "import-uploads", "left.json"), "{}");
    const server = await site.serve({ args: ["--docker-hosts", "local=unix:///run/d.sock"] });
    const cookie = await signInOwner(server);
    expect(await holds(async () => uploadsOf(site).length === 0)).toBe(true);

    const lock = new Database(join(site.dataDir, "allclear.import-lock"), { create: true });
    lock.run("BEGIN EXCLUSIVE");
    const refused = await plan(server, cookie);
    expect(refused).toStartWith("/admin/settings/import/plans/");
    expect(uploadsOf(site)).toHaveLength(1);
    await confirm(server, cookie, refused);
    const failed = await server.fetch(refused, { headers: { cookie } });
    expect(readHtml(await failed.text()).texts("[role=alert] p")).toContain(
      "Another import is running. Wait until it has ended.",
    );
    lock.run("ROLLBACK");
    lock.close();

    const path = await plan(server, cookie);
    await confirm(server, cookie, path);
    const done = await server.fetch(path, { headers: { cookie }, redirect: "manual" });
    expect(done.headers.get("location")).toMatch(/\/reports\/imp_[0-9a-z]{26}$/);
    expect(uploadsOf(site)).toEqual([]);
    const hasMonitor = async () => {
      const { data } = (await (await server.fetch("/api/v1/monitors", { key })).json()) as {
        data: { name: string }[];
      };
      return data[0]?.name === "Nightly backup";
    };
    expect(await holds(hasMonitor)).toBe(true);
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).not.toContain(UUIDS[0]);
  });
});
