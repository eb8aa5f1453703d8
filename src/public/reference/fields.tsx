import type { ComponentChildren } from "preact";
import type { Parameter, Schema } from "./openapi";

const REF = "#/components/schemas/";
/** Maximum depth of nested objects in one table. Named objects have their own tables. */
const DEPTH_MAX = 4;

interface Field {
  /** Name, prefixed with the names of its parent objects: `config.headers`, `components[].id`. */
  name: string;
  schema: Schema;
  isRequired: boolean;
}

/** Table of the fields of an object. Renders nothing for an object without fields. */
export function FieldTable({ schema, caption }: { schema: Schema; caption: string }) {
  const fields = fieldsOf(schema, "", 0);
  if (fields.length === 0) return null;
  return (
    <Table caption={caption}>
      {fields.map(({ name, schema: field, isRequired }) => (
        <Row key={name} name={name} schema={field} isRequired={isRequired}>
          {field.description}
        </Row>
      ))}
    </Table>
  );
}

/** Table of the parameters of an operation. */
export function ParameterTable({ parameters }: { parameters: readonly Parameter[] }) {
  return (
    <Table caption="Parameters">
      {parameters.map(({ name, in: place, required = false, schema, description }) => (
        <Row
          key={`${place} ${name}`}
          name={name}
          schema={schema}
          isRequired={required}
          place={place === "path" ? undefined : place}
        >
          {description ?? schema.description}
        </Row>
      ))}
    </Table>
  );
}

function Table({ caption, children }: { caption: string; children: ComponentChildren }) {
  return (
    <div class="fields" tabIndex={0} role="group" aria-label={caption}>
      <table>
        <caption>{caption}</caption>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

interface RowProps {
  name: string;
  schema: Schema;
  isRequired: boolean;
  place?: string | undefined;
  children: string | undefined;
}

function Row({ name, schema, isRequired, place, children }: RowProps) {
  const limits = limitsOf(schema);
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
        {isRequired ? <span class="required"> required</span> : null}
      </th>
      <td>
        <span class="type">
          <TypeName schema={schema} />
          {place === undefined ? null : `, ${place}`}
          {limits === "" ? null : `, ${limits}`}
        </span>
        {children ? <p>{inCode(children)}</p> : null}
      </td>
    </tr>
  );
}

/** Type in words, with links to named objects. */
export function TypeName({ schema }: { schema: Schema }) {
  const { $ref, enum: values, items, type } = schema;
  const options = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) {
    const name = nameOfRef($ref);
    return <a href={`#${schemaId(name)}`}>{name}</a>;
  }
  if (options) return <Options options={options} />;
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>;
  if (values) return <Options options={values.map((value) => ({ const: value }))} />;
  if (type === "array") {
    return (
      <>
        list of <TypeName schema={items ?? {}} />
      </>
    );
  }
  const value = valueOf(schema);
  if (value) {
    return (
      <>
        object of <TypeName schema={value} />
      </>
    );
  }
  const names = typeof type === "string" ? [type] : [...(type ?? ["any value"])];
  return <>{names.join(" or ")}</>;
}

/** Returns the type of the values of an object with any keys. */
function valueOf({ properties, additionalProperties }: Schema): Schema | undefined {
  return !properties && typeof additionalProperties === "object" ? additionalProperties : undefined;
}

function Options({ options }: { options: readonly Schema[] }) {
  return (
    <>
      {options.map((option, index) => (
        <>
          {index === 0 ? null : " or "}
          <TypeName schema={option} />
        </>
      ))}
    </>
  );
}

/** Lists the fields of an object, of its nested objects and of the objects in its lists. */
function fieldsOf(schema: Schema, prefix: string, depth: number): Field[] {
  const parts = schema.allOf ?? [];
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, field]): Field[] => {
    const name = `${prefix}${key}`;
    const isRequired = schema.required?.includes(key) ?? false;
    return [{ name, schema: field, isRequired }, ...innerFields(field, name, depth)];
  });
  return [...parts.flatMap((part) => fieldsOf(part, prefix, depth)), ...own];
}

function innerFields(field: Schema, name: string, depth: number): Field[] {
  if (depth >= DEPTH_MAX) return [];
  if (field.items) {
    const fields = fieldsOf(field.items, `${name}[].`, depth + 1);
    return fields.length > 0 ? fields : innerFields(field.items, `${name}[]`, depth + 1);
  }
  const options = (field.anyOf ?? []).flatMap((option) => innerFields(option, name, depth + 1));
  return [...fieldsOf(field, `${name}.`, depth + 1), ...options];
}

/** Returns the limits and the default of a value: "1 to 255 characters", "default 60". */
function limitsOf(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems } = schema;
  const texts = [
    rangeOf(minimum, maximum, ""),
    rangeOf(minLength, maxLength, " characters"),
    rangeOf(minItems, maxItems, " entries"),
    schema.default === undefined ? "" : `default ${JSON.stringify(schema.default)}`,
  ];
  return texts.filter((text) => text !== "").join(", ");
}

function rangeOf(min: number | undefined, max: number | undefined, unit: string): string {
  const write = (value: number) => value.toLocaleString("en");
  if (min !== undefined && max !== undefined) return `${write(min)} to ${write(max)}${unit}`;
  if (max !== undefined) return `at most ${write(max)}${unit}`;
  return min === undefined || min === 0 ? "" : `at least ${write(min)}${unit}`;
}

function nameOfRef(ref: string): string {
  return ref.slice(REF.length);
}

export function schemaId(name: string): string {
  return `schema-${name}`;
}

/** Renders text between backticks as code. */
export function inCode(text: string): ComponentChildren {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
