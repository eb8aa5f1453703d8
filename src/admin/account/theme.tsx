import { type Theme, THEMES } from "../../http/cookies";
import { capitalised } from "../../base/text";
import { Button, safeHref } from "../../ui/buttons";
import { ACCOUNT_PATH } from "../../ui/frame/paths";

const THEME_PATH = `${ACCOUNT_PATH}/theme`;

/** Screens with the form, by the value of its field `back`. */
type ThemeScreen = "account" | "general";

/** Buttons that select the theme of the dashboard in this browser. */
export function ThemeForm({ theme, back }: { theme: Theme; back: ThemeScreen }) {
  return (
    <form method="post" action={safeHref(THEME_PATH)}>
      <input type="hidden" name="back" value={back} />
      <div class="actions">
        {THEMES.map((name) => (
          <Button key={name} name="theme" value={name} isCurrent={name === theme}>
            {capitalised(name)}
          </Button>
        ))}
      </div>
      <p class="hint">Applies to the dashboard in this browser. System follows the device.</p>
    </form>
  );
}
