import Ajv from "ajv";
import { parse } from "yaml";
import { parseInstant } from "../../src/base/time";
import { configFileSchema } from "../../src/features/apply/schema";

/** Returns the errors that the published schema finds in configuration files, as editors do. */
export function createSchemaCheck(): (text: string) => string[] {
  const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true, strictTypes: false });
  ajv.addFormat("date", /^\d{4}-\d{2}-\d{2}$/);
  ajv.addFormat("date-time", { validate: (text: string) => parseInstant(text) !== undefined });
  // Conditions name fields that the schema around them declares.
  ajv.opts.strictRequired = false;
  const validate = ajv.compile(configFileSchema());
  return (text) => {
    validate(parse(text, { merge: true }));
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  };
}
