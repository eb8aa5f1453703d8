import { describe, expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { CheckboxList, ChoiceField, SelectField } from "../../src/ui/choices";
import { ErrorSummary } from "../../src/ui/blocks";
import { TextField } from "../../src/ui/form";
import { elementsOf, valuesOf } from "./elements";

const OPTIONS = [
  { value: "a", label: "A" },
  { value: "b", label: "B" },
];

function render(hint?: string, error?: string) {
  return renderToString(
    <>
      <TextField label="Name" name="name" hint={hint} error={error} />
      <SelectField label="Role" name="role" options={OPTIONS} hint={hint} error={error} />
      <CheckboxList
        legend="Scopes"
        name="scopes"
        hint={hint}
        error={error}
        options={OPTIONS.map((option) => ({ ...option, hint: "Does it.", isChecked: false }))}
      />
      <ChoiceField
        legend="Ends"
        name="ends"
        hint={hint}
        error={error}
        value="b"
        options={OPTIONS}
      />
    </>,
  );
}

describe("a field", () => {
  test("a field refers to its label, hint and error by unique ids", () => {
    const elements = elementsOf(render("A hint.", "is required"));
    const ids = valuesOf(elements, "id");
    expect(new Set(ids).size).toBe(ids.length);
    const desired = [
      ...valuesOf(elements, "for"),
      ...valuesOf(elements, "aria-describedby").flatMap((list) => list.split(" ")),
    ];
    expect(desired.filter((id) => !ids.includes(id))).toEqual([]);
    for (const name of ["name", "role", "scopes", "ends"]) {
      const field = elements.find(({ attributes }) => attributes["id"] === `field-${name}`);
      expect(field?.attributes["aria-describedby"]).toBe(`field-${name}-hint field-${name}-error`);
    }
  });

  test("a field is marked invalid only with an error and refers to no missing element", () => {
    const wrong = elementsOf(render(undefined, "is required"));
    // The input, the select and both boxes.
    expect(valuesOf(wrong, "aria-invalid")).toEqual(["true", "true", "true", "true"]);
    const right = elementsOf(render());
    expect(valuesOf(right, "aria-invalid")).toEqual([]);
    expect(valuesOf(right, "aria-describedby")).toEqual([
      "field-scopes-0-hint",
      "field-scopes-1-hint",
    ]);
  });

  test("an error of a field is a sentence, even if it was given as the end of one", () => {
    expect(render(undefined, "is required")).toContain("<span>Name is required.</span>");
    expect(render(undefined, "No such user.")).toContain("<span>No such user.</span>");
  });

  test("a field shows its typed value unless it is a password", () => {
    const text = <TextField label="Name" name="name" value="Deploy bot" />;
    const password = <TextField label="Password" name="password" type="password" value="hunter2" />;
    expect(renderToString(text)).toContain('value="Deploy bot"');
    expect(renderToString(password)).not.toContain("hunter2");
  });

  test("a field shows its chosen options", () => {
    const elements = elementsOf(
      renderToString(
        <>
          <SelectField label="Role" name="role" options={OPTIONS} value="b" />
          <ChoiceField legend="Ends" name="ends" options={OPTIONS} value="b" />
          <CheckboxList
            legend="Scopes"
            name="scopes"
            options={OPTIONS.map((option) => ({ ...option, isChecked: option.value === "b" }))}
          />
        </>,
      ),
    );
    const chosen = elements.filter(
      ({ attributes }) => "selected" in attributes || "checked" in attributes,
    );
    expect(chosen.map(({ attributes }) => attributes["value"])).toEqual(["b", "b", "b"]);
  });
});

describe("the summary of what is wrong with a form", () => {
  test("the summary of errors is an alert that takes the focus and links to each field", () => {
    const errors = [
      { name: "name", label: "Name", detail: "is required" },
      { name: "scopes", label: "Scopes", detail: "Choose one." },
    ];
    const html = renderToString(<ErrorSummary errors={errors} />);
    const elements = elementsOf(html);
    expect(elements[0]?.attributes).toMatchObject({ role: "alert", tabindex: "-1" });
    expect(elements[0]?.attributes).toHaveProperty("autofocus");
    const fields = valuesOf(elementsOf(render()), "id");
    const links = valuesOf(elements, "href").filter((href) => !href.startsWith("#i-"));
    expect(links).not.toEqual([]);
    for (const href of links) expect(fields).toContain(href.slice(1));
    expect(html).toContain("Name</a> is required.");
    expect(html).toContain("Scopes</a>: Choose one.");
  });

  test("the summary of errors is omitted without errors", () => {
    expect(renderToString(<ErrorSummary errors={[]} />)).toBe("");
  });
});
