import type { ButtonProps } from "./button";

export type EnterButtonProps = Pick<ButtonProps, "name" | "value">;

/** Does what a form's main button does, where it is the first of its form. Neither seen nor stopped at. */
export function EnterButton({ name, value }: EnterButtonProps) {
  return (
    <button
      class="enter-button visually-hidden"
      type="submit"
      name={name}
      value={value}
      tabIndex={-1}
      aria-hidden="true"
    />
  );
}
