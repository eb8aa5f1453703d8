import { NAME_MAX } from "../domain/texts";
import { TextField } from "../ui";
import type { Wording } from "./field-errors";

interface NameFieldProps {
  value: string;
  hint?: string;
  wrong: Wording;
}

/** Field `name` for the name of an object, with the API's length limit. */
export function NameField({ value, hint, wrong }: NameFieldProps) {
  return (
    <TextField
      label="Name"
      name="name"
      value={value}
      hint={hint}
      error={wrong.about("name")}
      maxlength={NAME_MAX}
      autocomplete="off"
      required
    />
  );
}
