import { Checkbox } from "../../../ui/choices";
import { type AnyField, type Field, InvalidInput } from "../../../ui/forms/form";
import type { SecretsContext } from "./secrets";
import { inputOf } from "./types/type-form";

/** Content of the inputs of an object. */
interface TypedParts {
  parts: Readonly<Record<string, unknown>>;
  isRemoved: boolean;
}

interface PartsOptions {
  /** Name of the object in the configuration. */
  field: string;
  label: string;
  /** Name of the object in the middle of a sentence, such as "the proxy". */
  noun: string;
  /** Fields of its parts by the names that the API gives them, in order. */
  parts: Readonly<Record<string, AnyField>>;
}

/**
 * Field for an object in a configuration, with inputs for each of its parts. Its body is null while all
 * inputs are empty, and to remove the object. Stored secrets that the body leaves out are kept.
 */
export function partsField<Context extends SecretsContext>({
  field,
  label,
  noun,
  parts,
}: PartsOptions): Field<TypedParts, Readonly<Record<string, unknown>> | null, Context> {
  const entries = Object.entries(parts);
  const nameOf = (part: string) => `${inputOf(field)}_${part}`;
  const collect = (content: (part: string, partField: AnyField) => unknown): TypedParts => ({
    parts: Object.fromEntries(entries.map(([part, each]) => [part, content(part, each)])),
    isRemoved: false,
  });
  const initial = collect((_, { initial: content }) => content);
  const isBlank = (typed: unknown, each: AnyField) =>
    typed === "" || Bun.deepEquals(typed, each.initial);

  return {
    label,
    initial,
    inputs: Object.fromEntries(entries.map(([part, each]) => [nameOf(part), each.label])),
    read: (sent, name) => ({
      ...collect((part, each) => each.read(sent, nameOf(part))),
      isRemoved: sent.text(`${name}_remove`) === "yes",
    }),
    toBody({ parts: typed, isRemoved }, context) {
      if (isRemoved) return null;
      const body: Record<string, unknown> = {};
      let isGiven = false;
      for (const [part, each] of entries) {
        const value: unknown = each.toBody(typed[part], context);
        if (value instanceof InvalidInput) {
          return new InvalidInput(value.detail, value.input ?? nameOf(part));
        }
        if (value === undefined) continue;
        body[part] = value;
        isGiven ||= value !== null && !isBlank(typed[part], each);
      }
      return isGiven ? body : null;
    },
    fromStored: (shown) =>
      shown === null ? initial : collect((part, each) => storedPart(shown, part, each)),
    showError(error, typed) {
      const [first = ""] = Object.keys(parts);
      const named = error.pointer.split("/")[3] ?? first;
      const part = Object.hasOwn(parts, named) ? named : first;
      const { input = nameOf(part), detail } = parts[part]?.showError?.(
        error,
        typed.parts[part],
      ) ?? {
        detail: error.detail,
      };
      return { input, detail };
    },
    Input: ({ name, value, errors, context }) => (
      <>
        {entries.map(([part, { Input }]) => (
          <Input
            key={part}
            name={nameOf(part)}
            value={value.parts[part]}
            errors={errors}
            context={context}
          />
        ))}
        {entries.every(([part, each]) => isBlank(value.parts[part], each)) ? null : (
          <Checkbox label={`Remove ${noun}`} name={`${name}_remove`} isChecked={value.isRemoved} />
        )}
      </>
    ),
  };
}

/** Returns the content of the inputs of a part. Of a secret, an object shows only if it is stored. */
function storedPart(shown: Readonly<Record<string, unknown>>, part: string, field: AnyField) {
  const isStored = shown[`has_${part}`];
  if (isStored !== undefined) return field.fromStored(isStored === true ? "" : null);
  return shown[part] == null ? field.initial : field.fromStored(shown[part]);
}
