/* Objects, parameters and bodies as tables of fields, with their types in words. */
import type { ComponentChildren } from "preact";
import { type Field, fieldsOf } from "./fields";
import { nameOfRef, type NamedObject, objectId, type Parameter, type Schema } from "./model";

/** Addresses of named objects, to which types link. */
type ObjectPaths = ReadonlyMap<string, string>;

interface ObjectProps {
  object: NamedObject;
  /** Fields that are listed with the object. */
  fields: readonly Field[];
  paths: ObjectPaths;
}

/** Description of an object with its fields, or with its type if it has none. */
export function ObjectEntry({ object: { name, schema, kind }, fields, paths }: ObjectProps) {
  return (
    <article class="card entry" id={objectId(name)}>
      <h3>
        <a href={`#${objectId(name)}`}>{name}</a>
      </h3>
      {schema.description ? <p>{inCode(schema.description)}</p> : null}
      {kind === undefined ? null : (
        <p>
          A shape of <a href={paths.get(kind)}>{kind}</a>, which lists the fields of all its shapes.
        </p>
      )}
      {schema.properties || schema.allOf ? null : (
        <p class="type">
          <TypeName schema={schema} paths={paths} />
        </p>
      )}
      <FieldTable
        fields={fields}
        caption={schema.oneOf ? "Fields of all shapes" : `Fields of ${name}`}
        paths={paths}
      />
    </article>
  );
}

/** Body of an operation: a link to its object, or its fields. */
export function Body({ schema, paths }: { schema: Schema; paths: ObjectPaths }) {
  if (schema.$ref ?? schema.anyOf ?? schema.oneOf) {
    return (
      <p>
        Body: <TypeName schema={schema} paths={paths} />
      </p>
    );
  }
  return <FieldTable fields={fieldsOf(schema)} caption="Body" paths={paths} />;
}

/** Table of fields. Renders nothing without any. */
function FieldTable({
  fields,
  caption,
  paths,
}: {
  fields: readonly Field[];
  caption: string;
  paths: ObjectPaths;
}) {
  if (fields.length === 0) return null;
  return (
    <Table caption={caption}>
      {fields.map(({ name, schema, isRequired }) => (
        <Row key={name} name={name} schema={schema} isRequired={isRequired} paths={paths}>
          {schema.description}
        </Row>
      ))}
    </Table>
  );
}

/** Table of the parameters of an operation. */
export function ParameterTable({
  parameters,
  paths,
}: {
  parameters: readonly Parameter[];
  paths: ObjectPaths;
}) {
  if (parameters.length === 0) return null;
  return (
    <Table caption="Parameters">
      {parameters.map(({ name, in: place, required = false, schema, description }) => (
        <Row
          key={`${place} ${name}`}
          name={name}
          schema={schema}
          isRequired={required}
          place={place === "path" ? undefined : place}
          paths={paths}
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
  paths: ObjectPaths;
  children: string | undefined;
}

function Row({ name, schema, isRequired, place, paths, children }: RowProps) {
  const limits = limitsOf(schema);
  return (
    <tr>
      <th scope="row">
        <code>{name}</code>
        {isRequired ? <span class="required"> required</span> : null}
      </th>
      <td>
        <span class="type">
          <TypeName schema={schema} paths={paths} />
          {place === undefined ? null : `, ${place}`}
          {limits === "" ? null : `, ${limits}`}
        </span>
        {children ? <p>{inCode(children)}</p> : null}
      </td>
    </tr>
  );
}

interface TypeProps {
  schema: Schema;
  paths: ObjectPaths;
}

/** Type in words, with links to named objects. */
export function TypeName({ schema, paths }: TypeProps) {
  const { $ref, enum: values, items, type } = schema;
  const options = schema.anyOf ?? schema.oneOf;
  if ($ref !== undefined) {
    const name = nameOfRef($ref);
    return <a href={paths.get(name)}>{name}</a>;
  }
  if (options) return <Options options={options} paths={paths} />;
  if (schema.const !== undefined) return <code>{JSON.stringify(schema.const)}</code>;
  if (values) return <Options options={values.map((value) => ({ const: value }))} paths={paths} />;
  if (type === "array") {
    return (
      <>
        list of <TypeName schema={items ?? {}} paths={paths} />
      </>
    );
  }
  const value = valueOf(schema);
  if (value) {
    return (
      <>
        object of <TypeName schema={value} paths={paths} />
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

function Options({ options, paths }: { options: readonly Schema[]; paths: ObjectPaths }) {
  return (
    <>
      {options.map((option, index) => (
        <>
          {index === 0 ? null : " or "}
          <TypeName schema={option} paths={paths} />
        </>
      ))}
    </>
  );
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

/** Renders text between backticks as code. */
export function inCode(text: string): ComponentChildren {
  return text
    .split("`")
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part));
}
