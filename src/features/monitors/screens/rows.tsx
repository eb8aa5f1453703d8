import { Button } from "../../../ui/buttons";

/** Intent of the button that adds empty rows. */
export const MORE_ROWS = "rows";

/** Empty rows of a form, usually and after the button was pressed. */
export const EMPTY_ROWS = 1;
export const MORE_EMPTY_ROWS = 4;

/** Screen data of fields with rows. */
export interface RowsContext {
  /** Number of empty rows to show. */
  emptyRows: number;
}

/** Button that shows the form again with more empty rows. */
export function MoreRows() {
  return (
    <div class="field-more">
      <Button name="intent" value={MORE_ROWS}>
        Add rows
      </Button>
    </div>
  );
}

/** Returns the name of the form field of a field of the configuration. */
export function inputOf(configName: string): `config_${string}` {
  return `config_${configName}`;
}
