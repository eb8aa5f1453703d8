import { createTestApp, type TestApp } from "./app";
import { type Fields, KEYS, makeKey } from "./dashboard";

/** A key on the dashboard of a signed-in admin. */
interface KeyDashboard extends AsyncDisposable {
  app: TestApp;
  session: string;
  id: string;
  value: string;
  /** Path of the key's screen. */
  path: string;
}

/** Creates a key by its form. */
export async function createKeyDashboard(fields: Fields = {}): Promise<KeyDashboard> {
  const app = await createTestApp();
  const session = await app.signedIn("admin");
  const { id, value } = await makeKey(app, session, fields);
  return {
    app,
    session,
    id,
    value,
    path: `${KEYS}/${id}`,
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}
