/* Fields of a monitor's form for its locations. They are shown only while there are other locations than the server. */
import { DOWN_WHEN, type DownWhen, LOCAL } from "../../../base/status";
import type { Reader } from "../../../db/statements";
import { CheckLines } from "../../../ui/choices";
import { selectField } from "../../../ui/forms/fields";
import type { Field } from "../../../ui/forms/form";
import { listLocations } from "../../locations/store";

/** Screen data of the fields. */
export interface LocationsContext {
  /** Locations besides the server, by name. */
  locations: readonly { ref: string; name: string }[];
}

export function readLocationChoices(reader: Reader): LocationsContext["locations"] {
  return listLocations(reader, {}).toSorted((a, b) => a.name.localeCompare(b.name, "en"));
}

/** Refs of locations that are checked in a form; undefined for a form without the field. */
type TypedLocations = readonly string[] | undefined;

const shownInput = (name: string) => `${name}_shown`;

/** Field for the locations, in the order of their names after the server, so that the same ones change nothing. */
const locationsField: Field<TypedLocations, string[], LocationsContext> = {
  label: "Locations",
  initial: [LOCAL],
  read: (sent, name) => (sent.text(shownInput(name)) === "" ? undefined : sent.all(name)),
  toBody: (typed) => typed && inOrder(typed),
  fromStored: (refs) => inOrder(refs),
  showError: ({ pointer, detail }) => ({
    detail:
      pointer.split("/").length > 2
        ? "Select locations that exist."
        : detail.startsWith("must have")
          ? "Select at least one location."
          : `The locations ${detail}.`,
  }),
  Input({ name, value = [LOCAL], errors, context: { locations } }) {
    if (locations.length === 0) return null;
    const options = [
      { value: LOCAL, label: "This server", note: LOCAL },
      ...locations.map(({ ref, name: label }) => ({ value: ref, label, note: ref })),
    ];
    return (
      <>
        <CheckLines
          legend="Locations"
          name={name}
          hint="Where the monitor is checked from."
          error={errors[name]}
          options={options.map((each) => ({ ...each, isChecked: value.includes(each.value) }))}
        />
        <input type="hidden" name={shownInput(name)} value="1" />
      </>
    );
  },
};

/** Returns refs with the server first, and the others in alphabetical order. */
function inOrder(refs: readonly string[]): string[] {
  return refs.toSorted((a, b) => (a === LOCAL ? -1 : b === LOCAL ? 1 : a < b ? -1 : a > b ? 1 : 0));
}

export const DOWN_WHEN_WORDS: Readonly<Record<DownWhen, string>> = {
  any: "Any location fails",
  majority: "A majority fails (both of two)",
  all: "All locations fail",
};

const downWhenSelect = selectField<DownWhen, LocationsContext>({
  label: "Down when",
  hint: "Locations without data are not counted.",
  initial: "majority",
  options: DOWN_WHEN.map((value) => ({ value, label: DOWN_WHEN_WORDS[value] })),
});

const downWhenField: typeof downWhenSelect = {
  ...downWhenSelect,
  toBody: (typed, context) => (typed === "" ? undefined : downWhenSelect.toBody(typed, context)),
  Input: (props) => (props.context.locations.length === 0 ? null : downWhenSelect.Input(props)),
};

export const LOCATION_FIELDS = { locations: locationsField, down_when: downWhenField };
