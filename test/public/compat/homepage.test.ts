import { expect, test } from "bun:test";
import { createCompatSite, type CompatSite } from "../../support/compat-site";

/** Git directory of gethomepage/homepage, whose widgets are run as they are. */
const REPOSITORY = process.env["HOMEPAGE_REPOSITORY"];
if (REPOSITORY === undefined) {
  console.warn("Skipped: the widgets of Homepage (HOMEPAGE_REPOSITORY names its git directory).");
}

/** A rendered element. */
interface Element {
  type: unknown;
  props: Record<string, unknown>;
  children: unknown[];
}
type Widget = (props: { service: { widget: object } }) => Element;

/** Returns the component of a widget. `read` returns the answer for an endpoint of the widget. */
async function loadWidget(name: string, read: (endpoint: string) => unknown): Promise<Widget> {
  const file = `HEAD:src/widgets/${name}/component.jsx`;
  const source = await Bun.$`git -C ${REPOSITORY} show ${file}`.text();
  const compiler = new Bun.Transpiler({
    loader: "jsx",
    tsconfig: { compilerOptions: { jsx: "react", jsxFactory: "h", jsxFragmentFactory: "null" } },
  });
  const code = compiler
    .transformSync(source)
    .replace(/^import .*$/gm, "")
    .replace(/export default function/, "return function");
  const known = {
    h: (type: unknown, props: object | null, ...children: unknown[]) => ({
      type,
      props: props ?? {},
      children,
    }),
    Block: "Block",
    Container: "Container",
    useTranslation: () => ({ t: (_: string, { value }: { value?: unknown } = {}) => value ?? "" }),
    useWidgetAPI: (_: object, endpoint: string) => ({ data: read(endpoint) }),
  };
  // The widget is a module with imports, which are given as arguments.
  // oxlint-disable-next-line typescript/no-implied-eval
  return new Function(...Object.keys(known), code)(...Object.values(known)) as Widget;
}

/** Returns the values of a widget's blocks by their labels. */
async function shownBy(name: string, answers: Record<string, unknown>) {
  const widget = await loadWidget(name, (endpoint) => answers[endpoint]);
  const { children } = widget({ service: { widget: {} } });
  return Object.fromEntries(
    (children as (Element | null | false)[])
      .filter((child) => child !== null && child !== false)
      .map(({ props }) => [props["label"], props["value"]]),
  );
}

async function read(site: CompatSite, path: string): Promise<unknown> {
  const { status, body } = await site.app.call(path);
  expect(status).toBe(200);
  return body;
}

async function createSite() {
  const site = await createCompatSite();
  await site.app.clock.advance(3_600_000);
  const key = await site.app.keyWith("write:components", "write:incidents");
  const path = `/api/v1/components/${site.components["API"]}`;
  await site.app.call(path, { method: "PATCH", key, json: { status: "major_outage" } });
  await site.app.clock.advance(3_600_000);
  const incident = { page: "acme", name: "Errors", body: "Hm." };
  await site.app.call("/api/v1/incidents", { method: "POST", key, json: incident });
  return site;
}

test.skipIf(REPOSITORY === undefined)(
  "Homepage's widget uptimekuma shows up, down, uptime and the incident",
  async () => {
    await using site = await createSite();
    const shown = await shownBy("uptimekuma", {
      status_page: await read(site, "/api/status-page/acme"),
      heartbeat: await read(site, "/api/status-page/heartbeat/acme"),
    });
    expect(shown).toMatchObject({
      "uptimekuma.up": 1,
      "uptimekuma.down": 1,
      "uptimekuma.uptime": "75.0",
    });
    expect(Object.keys(shown)).toContain("uptimekuma.incident");
  },
);

test.skipIf(REPOSITORY === undefined)(
  "Homepage's widget gatus shows up, down and uptime",
  async () => {
    await using site = await createSite();
    const status = await read(site, "/compat/gatus/acme/api/v1/endpoints/statuses");
    expect(await shownBy("gatus", { status })).toEqual({
      "gatus.up": 1,
      "gatus.down": 1,
      "gatus.uptime": "50.0",
    });
  },
);
