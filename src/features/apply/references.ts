import type { FieldError } from "../../errors";
import { mapDeclaredSecrets } from "../monitors";
import { mapWebhookSecrets } from "../webhooks";
import type { ApplyFile } from "./model";
import { placed, withMonitors } from "./placed";

/** The variables that secrets in a file may refer to. */
export type Environment = Readonly<Record<string, string | undefined>>;

// A second dollar sign before it makes it text.
const REFERENCE = /\$(\$)?\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * A file with the values of variables in the places where its secrets say `${NAME}`; `$${NAME}` is that
 * text itself. Adds to `errors` each that is not set. One that is empty is no secret either: where secrets
 * come from a vault, that is what a missing one looks like.
 */
export function resolveReferences(
  file: ApplyFile,
  env: Environment,
  errors: FieldError[],
): ApplyFile {
  const resolve = (at: string) => (text: string, inner: string) =>
    text.replace(REFERENCE, (whole: string, isText: string | undefined, name: string) => {
      if (isText) return whole.slice(1);
      const value = env[name];
      if (value) return value;
      const detail = `refers to the variable ${name}, which is ${value === "" ? "empty" : "not set"}`;
      errors.push({ pointer: `${at}${inner.slice(1)}`, detail });
      return whole;
    });
  const resolved = withMonitors(file, ({ item, at }) => mapDeclaredSecrets(item, resolve(at)));
  if (!file.webhooks) return resolved;
  const webhooks = placed(file.webhooks, "#/webhooks").map(({ item, at }) =>
    mapWebhookSecrets(item, resolve(at)),
  );
  return { ...resolved, webhooks };
}
