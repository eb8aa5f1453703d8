import { Actions, Form, TextField } from "../../src/ui/form";
import { DateTimeField } from "../../src/ui/forms/date-time";
import { Button, ButtonLink } from "../../src/ui/buttons";
import {
  CheckboxList,
  CheckLines,
  CheckRows,
  ChoiceField,
  Picker,
  RadioList,
  SelectField,
  SelectRows,
  Summary,
} from "../../src/ui/choices";
import { Columns, Section, StatusLabel } from "../../src/ui/blocks";
import { GalleryWrongForm } from "./wrong-form";

/** A form without errors, and one with an error in every field. */
export function GalleryForms({ path }: { path: string }) {
  return (
    <>
      <Section title="Form">
        <div id="forms">
          <Columns
            aside={
              <Summary
                title="What this key can do"
                field="scopes"
                lines={["Create and update incidents."]}
                emptyLine="do nothing yet: choose a scope."
              >
                On every page of this server.
              </Summary>
            }
          >
            <Form action={path} hidden={{ once: "4f1c" }}>
              <RadioList
                legend="Role"
                name="user_role"
                value="viewer"
                options={[
                  { value: "owner", label: "Owner", hint: "Manages users." },
                  { value: "viewer", label: "Viewer", hint: "Reads every status page." },
                ]}
              />
              <Actions>
                <Button
                  name="preset"
                  value="ci"
                  preset={{ name: "CI", scopes: ["write:incidents"] }}
                >
                  CI incident bot
                </Button>
                <Button
                  name="preset"
                  value="dashboard"
                  preset={{ name: "Dashboard", scopes: ["read:status", "read:analytics"] }}
                >
                  Read-only dashboard
                </Button>
              </Actions>
              <TextField
                label="Name"
                name="name"
                value="CI"
                hint="What will use it. You will look for this name when something goes wrong."
                maxlength={255}
              />
              <Picker
                label="Type"
                name="choose_type"
                searchLabel="Search types"
                placeholder="What should be watched?"
                emptyText="No type has this name."
                options={[
                  {
                    value: "http",
                    label: "HTTP(S)",
                    icon: "globe",
                    note: "A web address",
                    words: "",
                  },
                  {
                    value: "push",
                    label: "Heartbeat",
                    icon: "clock",
                    note: "A job",
                    words: "cron",
                  },
                ]}
                value="http"
              />
              <CheckLines
                legend="Notify"
                name="notify"
                options={[
                  { value: "chat", label: "Team chat", note: "Slack", isChecked: true },
                  { value: "all", label: "Pager", note: "ntfy", isChecked: true, isFixed: true },
                ]}
              />
              <CheckboxList
                legend="Scopes"
                name="scopes"
                isCode
                options={SCOPES.map((scope) => ({
                  ...scope,
                  isChecked: scope.value === "write:incidents",
                  details: (
                    <p class="hint">
                      <code>GET /api/v1/{scope.value.split(":")[1]}</code>
                    </p>
                  ),
                }))}
              />
              <TextField
                label="Rate limit"
                name="rate_limit"
                value="1000"
                hint="Requests a minute, 1 to 1,000,000."
                inputmode="numeric"
                isShort
              />
              <ChoiceField
                legend="Expiration"
                name="expiration"
                value="90"
                options={[
                  { value: "never", label: "Never" },
                  { value: "7", label: "7 days" },
                  { value: "30", label: "30 days" },
                  { value: "90", label: "90 days" },
                  { value: "365", label: "365 days" },
                  { value: "date", label: "A date" },
                ]}
              >
                <TextField
                  label="Date"
                  name="expires_on"
                  type="date"
                  hint="The key works to the end of that day, UTC."
                  isShort
                />
              </ChoiceField>
              <SelectField
                label="Role"
                name="role"
                value="viewer"
                options={[
                  { value: "owner", label: "Owner" },
                  { value: "viewer", label: "Viewer" },
                ]}
                hint="Viewers read."
              />
              <SelectRows
                legend="Components"
                name="components"
                hint="The same question about several things."
                options={[
                  { value: "", label: "Not affected" },
                  { value: "partial_outage", label: "Partial outage" },
                ]}
                parts={[
                  { key: "alone", rows: [{ name: "on:site", label: "Website", value: "" }] },
                  {
                    key: "core",
                    title: "Core",
                    rows: [
                      {
                        name: "on:api",
                        label: "API",
                        note: <StatusLabel status="degraded_performance" />,
                        value: "partial_outage",
                      },
                      { name: "on:search", label: "Search", value: "" },
                    ],
                  },
                ]}
              />
              <CheckRows
                legend="Worked on"
                name="worked_on"
                parts={[
                  { key: "", options: [{ value: "site", label: "Website", isChecked: false }] },
                  {
                    key: "core",
                    title: "Core",
                    options: [
                      { value: "api", label: "API", isChecked: true },
                      { value: "search", label: "Search", isChecked: false },
                    ],
                  },
                ]}
              />
              <DateTimeField
                label="Begins"
                name="begins_at"
                value="2027-01-31T14:00"
                pageZone="Europe/Berlin"
              />
              <Actions>
                <Button kind="primary">Create API Key</Button>
                <ButtonLink href={path}>Cancel</ButtonLink>
              </Actions>
            </Form>
          </Columns>
        </div>
      </Section>
      <GalleryWrongForm path={path} />
    </>
  );
}

const SCOPES = [
  {
    value: "read:status",
    label: "read:status",
    hint: "Read status page data, components, incidents and maintenance.",
  },
  { value: "write:incidents", label: "write:incidents", hint: "Create and update incidents." },
  { value: "read:analytics", label: "read:analytics", hint: "Access analytics and metrics data." },
];
