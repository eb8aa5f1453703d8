/**
 * Apprise API, whose source is at `APPRISE_API_DIR` (github.com/caronc/apprise-api, 1.5.2). It is not on PyPI, unlike the
 * packages that it needs.
 */
import { getPython } from "./python";
import { type ServerProcess, startServer } from "./server-process";

const PACKAGES = [
  "apprise==1.13.0",
  "django==5.2.19",
  "gevent==26.9.0",
  "requests==2.34.2",
  "cryptography",
  "django-prometheus==2.5.0",
];

export const APPRISE_API_DIR = process.env["APPRISE_API_DIR"];

/** Starts the server. Its configurations are kept in its folder. */
export function startApprise(): Promise<ServerProcess> {
  return startServer({
    async command({ folder, port }) {
      const python = await getPython(PACKAGES);
      const program = `${APPRISE_API_DIR}/apprise_api/manage.py`;
      const variables = [`APPRISE_CONFIG_DIR=${folder}`, "PYTHONDONTWRITEBYTECODE=1"];
      return ["env", ...variables, python, program, "runserver", "--noreload", `127.0.0.1:${port}`];
    },
  });
}

/** Stores the addresses of services under a key. */
export async function storeConfiguration(
  { port }: ServerProcess,
  key: string,
  urls: string,
): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/add/${key}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ urls }),
  });
  if (!response.ok) throw new Error(await response.text());
}
