import type { AnyField } from "../../../../ui/forms/form";

/** Returns the name of the form field of a field of the configuration. */
export function inputOf(configName: string): `config_${string}` {
  return `config_${configName}`;
}

/** Form of a monitor type. Each type has a file and a line in the registry. */
export interface TypeForm {
  /** Sentence that describes the check. */
  sentence: string;
  /** Fields of the configuration by the names that the API gives them, in order. */
  fields: Readonly<Record<string, AnyField>>;
  /** Names of fields by the title of the fold in which they are shown. */
  folds?: Readonly<Record<string, readonly string[]>>;
  /** Further fields, shown in the fold “More”, which most monitors keep at their defaults. */
  advanced?: Readonly<Record<string, AnyField>>;
  /** True if jobs send heartbeats, so that the server runs no checks. */
  isPush?: boolean;
}
