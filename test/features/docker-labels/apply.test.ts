import { expect, test } from "bun:test";
import { exportFile } from "../../../src/features/apply/apply";
import { listRefsLeftOut } from "../../../src/features/monitors/declared";
import { apply, applyError, linesOf } from "../../support/apply";
import { startLabelledDocker } from "../../support/docker";
import { startLabelSite } from "../../support/docker-labels";

const WEB = { name: "web", labels: { "allclear.monitor": "https://web.example.com" } };

const file = (ref: string) => `pages: []
monitors:
  - name: Website
    ref: ${ref}
    type: http
    config: {url: "https://own.example.com"}
`;

test("a configuration file cannot change a monitor of labels, and may depend on it", async () => {
  using docker = startLabelledDocker(WEB);
  await using site = await startLabelSite({ local: docker.path });
  await site.read();
  expect(await applyError(site, file("web"))).toBe(
    "line 4: ref belongs to a monitor that labels of a container declare: web",
  );
  const outcome = await apply(site, `${file("own")}    depends_on: [web]\n`);
  expect(linesOf(outcome)).toEqual(["+ monitor own"]);
});

test("pruning by a configuration file keeps monitors of labels, and an export leaves them out", async () => {
  using docker = startLabelledDocker(WEB);
  await using site = await startLabelSite({ local: docker.path });
  await site.read();
  await apply(site, file("own"));
  const outcome = await apply(site, "pages: []\n", true);
  expect(linesOf(outcome)).toEqual(["- monitor own"]);
  expect(await site.refs()).toEqual(["web"]);
  expect(exportFile(site.ctx.db)).toEqual({ pages: [] });
  expect(listRefsLeftOut(site.ctx.db, undefined)).toEqual({ undeclarable: [], labelled: ["web"] });
});
