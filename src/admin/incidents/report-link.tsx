import { ButtonLink } from "../../ui/buttons";
import { Icon } from "../../ui/icons";
import { type ReportPreset, reportPath } from "./incident-paths";

interface ReportLinkProps extends ReportPreset {
  kind?: "primary" | "quiet";
}

/** Button to the form for a new incident, also by the key `c`. The form starts with a page and components. */
export function ReportLink({ kind = "quiet", ...preset }: ReportLinkProps) {
  return (
    <ButtonLink href={reportPath(preset)} kind={kind} shortcut="c">
      <Icon name="megaphone" />
      Report incident
    </ButtonLink>
  );
}
