import {
  Button,
  Checkbox,
  FieldRows,
  Fold,
  HiddenFields,
  type RowControl,
  TextArea,
} from "../../ui";
import type { Wording } from "../field-errors";
import { assertionField, type AssertionRow, OPS, SOURCES } from "./assertion-rows";
import { headerField, type HeaderRow, type RequestValues } from "./request-values";

/** Intent of the button that adds empty rows. */
export const MORE_ROWS = "rows";

const KEPT = "Set, leave empty to keep";

/** Inputs for the assertions, headers and body of a request. */
export function RequestInputs({ values, wrong }: { values: RequestValues; wrong: Wording }) {
  const { headers, isBodySet } = values;
  const isUsed = isBodySet || headers.some(({ isSet, name }) => isSet || name !== "");
  const isWrong = ["config_headers", "config_body"].some((name) => wrong.about(name) !== undefined);
  return (
    <>
      <div class="field">
        <FieldRows
          legend="Conditions"
          name="config_assertions"
          hint="All conditions must hold. Without a condition for the status, only 2xx succeeds. Headers need a name, JSON values a path such as $.checks[0].status."
          error={wrong.about("config_assertions")}
          rows={values.assertions.map((row, index) => ({
            label: `Condition ${index + 1}`,
            isWrong:
              wrong.about("config_assertions")?.startsWith(`Condition ${index + 1}:`) ?? false,
            controls: assertionControls(row, index),
          }))}
        />
        <MoreRows />
      </div>
      <Fold title="Headers and body" isOpen={isUsed || isWrong}>
        <div class="field">
          <FieldRows
            legend="Headers"
            name="config_headers"
            hint="Sent with each request, such as Authorization. Values are secrets: they are never shown again."
            error={wrong.about("config_headers")}
            rows={headers.map((row, index) => ({
              label: `Header ${index + 1}`,
              isWrong:
                row.name !== "" &&
                (wrong.about("config_headers")?.includes(`“${row.name}”`) ?? false),
              controls: headerControls(row, index),
            }))}
          />
          <MoreRows />
        </div>
        <TextArea
          label="Body"
          name="config_body"
          hint={
            isBodySet
              ? `${KEPT}. The body is secret and never shown.`
              : "Optional. Sent with each request except GET and HEAD. The body is secret and never shown again."
          }
          error={wrong.about("config_body")}
          rows={3}
          maxlength={64_000}
        />
        {isBodySet ? (
          <>
            <HiddenFields values={{ config_body_set: "yes" }} />
            <Checkbox
              label="Remove the body"
              name="config_body_remove"
              isChecked={values.isBodyRemoved}
            />
          </>
        ) : null}
      </Fold>
    </>
  );
}

function MoreRows() {
  return (
    <div class="field-more">
      <Button name="intent" value={MORE_ROWS}>
        Add rows
      </Button>
    </div>
  );
}

function assertionControls(row: AssertionRow, index: number): RowControl[] {
  const name = (part: keyof AssertionRow) => assertionField(index, part);
  return [
    {
      kind: "select",
      name: name("source"),
      label: "What is looked at",
      options: [{ value: "", label: "Nothing" }, ...SOURCES],
      value: row.source,
    },
    {
      kind: "text",
      name: name("property"),
      label: "Name or path",
      value: row.property,
      maxlength: 255,
    },
    { kind: "select", name: name("op"), label: "Comparison", options: OPS, value: row.op },
    { kind: "text", name: name("value"), label: "Value", value: row.value, maxlength: 1_000 },
  ];
}

function headerControls(row: HeaderRow, index: number): RowControl[] {
  const name = (part: "name" | "value" | "set" | "remove") => headerField(index, part);
  const value = { kind: "text", name: name("value"), label: "Value", value: "" } as const;
  if (!row.isSet) {
    return [
      { kind: "text", name: name("name"), label: "Name", value: row.name, maxlength: 255 },
      { ...value, maxlength: 4_000 },
    ];
  }
  return [
    {
      kind: "fixed",
      name: name("name"),
      value: row.name,
      label: "Name",
      sends: { [name("set")]: "yes" },
    },
    { ...value, placeholder: KEPT, maxlength: 4_000 },
    { kind: "check", name: name("remove"), label: "Remove", isChecked: row.isRemoved },
  ];
}
