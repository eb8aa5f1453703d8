import { createTestApp, type TestApp } from "./app";
import { userWithPassword } from "./dashboard";

/** Address of the proxy. */
export const PROXY = "10.0.0.5";

export const PROXY_SECRET = "secret-of-the-proxy-of-the-tests";

/** Environment of an installation behind a proxy that names its users. */
export const PROXY_ENV = {
  ALLCLEAR_IDENTITY_PROXY: "10.0.0.0/28",
  ALLCLEAR_IDENTITY_PROXY_EMAIL_HEADER: "Remote-Email",
  ALLCLEAR_IDENTITY_PROXY_GROUPS_HEADER: "Remote-Groups",
  ALLCLEAR_IDENTITY_PROXY_SECRET: PROXY_SECRET,
} as const;

/** Returns the headers with which the proxy names a user. The secret is left out if it is empty. */
export function named(
  name: string,
  more: { email?: string; groups?: string; secret?: string } = {},
): Record<string, string> {
  const { email = `${name}@northwind.example`, groups, secret = PROXY_SECRET } = more;
  return {
    "remote-user": name,
    ...(email === "" ? {} : { "remote-email": email }),
    ...(groups === undefined ? {} : { "remote-groups": groups }),
    ...(secret === "" ? {} : { "allclear-proxy-secret": secret }),
  };
}

/** Creates an installation behind the proxy, whose owner has a password: owner@example.com. */
export async function createProxiedApp(
  env: Record<string, string | undefined> = {},
): Promise<TestApp> {
  const app = await createTestApp({ env: { ...PROXY_ENV, ...env } });
  await userWithPassword(app, "owner@example.com");
  return app;
}
