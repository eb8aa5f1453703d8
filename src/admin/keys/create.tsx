import { KEY_PRESETS, SCOPE_NAMES, SCOPES } from "../../features/keys/scopes";
import { Actions, Form } from "../../ui/form";
import { Button, ButtonLink } from "../../ui/buttons";
import { Columns } from "../../ui/blocks";
import { PageHead } from "../../ui/navigation";
import { Summary } from "../../ui/choices";
import type { StateOf } from "../../ui/forms/form";
import { FormFields } from "../../ui/forms/fields";
import { KEYS_PATH } from "../../ui/frame/paths";
import { KEY_FORM } from "./forms";

/** Settings → API Keys → Create API Key. */
export function CreateKey({ state }: { state: StateOf<typeof KEY_FORM> }) {
  return (
    <>
      <PageHead title="Create API Key" crumbs={[{ href: KEYS_PATH, label: "API Keys" }]} />
      <Columns aside={<ScopeSummary scopes={state.values.scopes} />}>
        <Form action={`${KEYS_PATH}/new`} hidden={state.hidden} enter={{}}>
          <FormFields form={KEY_FORM} state={state}>
            <Presets />
          </FormFields>
          <Actions>
            <Button kind="primary">Create API Key</Button>
            <ButtonLink href={KEYS_PATH}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Columns>
    </>
  );
}

function Presets() {
  return (
    <div class="field">
      <p class="label" id="presets">
        Start from
      </p>
      <div class="presets" role="group" aria-labelledby="presets">
        {KEY_PRESETS.map(({ id, name, scopes, sentence }) => (
          <Button key={id} name="preset" value={id} preset={{ name, scopes }} title={sentence}>
            {name}
          </Button>
        ))}
      </div>
    </div>
  );
}

/** Sentences about the selected scopes: "What this key can do". */
function ScopeSummary({ scopes }: { scopes: readonly string[] }) {
  return (
    <Summary
      title="What this key can do"
      field="scopes"
      lines={SCOPE_NAMES.filter((scope) => scopes.includes(scope)).map((scope) => SCOPES[scope])}
      emptyLine="Nothing yet. Select a scope."
    >
      The key works for all status pages. Its value is shown once, after you create the key. The
      server stores only a hash of it.
    </Summary>
  );
}
