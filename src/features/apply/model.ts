import { type Static, Type } from "@sinclair/typebox";
import { RefText } from "../../base/ids";
import { Nullable, Text } from "../../base/schema";
import { ComponentInput, GroupInput } from "../components/wire";
import { TemplateFields } from "../incident-templates/wire";
import { ScheduleFields } from "../maintenance/schedules/wire";
import { declaredMonitorSchema } from "../monitors/declared";
import { PARENTS_MAX } from "../monitors/wire";
import { PageInput } from "../pages/wire";
import { DECLARED_WEBHOOK_FIELDS } from "../webhooks/declared";

const PreviousRefs = Type.Optional(Type.Array(RefText));

/** Fields of a monitor that only files have. */
interface MonitorMore {
  ref?: string;
  previous_refs?: string[];
  /** Components that it watches in addition to the one it is nested in: `page-slug/component-ref`. */
  components?: string[];
  /** Refs of monitors on which it depends. */
  depends_on?: string[];
}

/** A monitor in a file. */
export const FileMonitor = declaredMonitorSchema<MonitorMore>({
  ref: Type.Optional(RefText),
  previous_refs: PreviousRefs,
  components: Type.Optional(Type.Array(Text({ minLength: 1, maxLength: 127 }))),
  depends_on: Type.Optional(Type.Array(RefText, { maxItems: PARENTS_MAX, uniqueItems: true })),
});
export type FileMonitor = Static<typeof FileMonitor>;

const Monitors = Type.Optional(Type.Array(FileMonitor));

/** A component in a file, with the monitors that watch it. */
export const FileComponent = Type.Object(
  { ...ComponentInput.properties, previous_refs: PreviousRefs, monitors: Monitors },
  { additionalProperties: false },
);
export type FileComponent = Static<typeof FileComponent>;

/** A group in a file, with its components. */
export const FileGroup = Type.Object(
  {
    ...GroupInput.properties,
    previous_refs: PreviousRefs,
    components: Type.Optional(Type.Array(FileComponent)),
  },
  { additionalProperties: false },
);
export type FileGroup = Static<typeof FileGroup>;

/** A page in a file, with its groups and its components without a group. */
export const FilePage = Type.Object(
  {
    ...PageInput.properties,
    previous_refs: PreviousRefs,
    previous_slugs: Type.Optional(Type.Array(Text({ maxLength: 63 }))),
    groups: Type.Optional(Type.Array(FileGroup)),
    components: Type.Optional(Type.Array(FileComponent)),
  },
  { additionalProperties: false },
);
export type FilePage = Static<typeof FilePage>;

/** A webhook in a file. It has no name: a missing ref is made from the description. */
export const FileWebhook = Type.Object(
  { ref: Type.Optional(RefText), ...DECLARED_WEBHOOK_FIELDS, previous_refs: PreviousRefs },
  { additionalProperties: false },
);
export type FileWebhook = Static<typeof FileWebhook>;

/** An incident template in a file. Its components are refs of components of its page. */
export const FileTemplate = Type.Object(
  {
    ...TemplateFields,
    ref: Type.Optional(RefText),
    previous_refs: PreviousRefs,
    page: Type.Optional(Nullable(Text({ minLength: 1, maxLength: 63 }))),
  },
  { additionalProperties: false },
);
export type FileTemplate = Static<typeof FileTemplate>;

/** A maintenance schedule in a file. Its components are refs of components of its page. */
export const FileSchedule = Type.Object(
  {
    ...ScheduleFields,
    ref: Type.Optional(RefText),
    previous_refs: PreviousRefs,
    page: Text({ minLength: 1, maxLength: 63 }),
    components: Type.Optional(Type.Array(RefText, { uniqueItems: true })),
  },
  { additionalProperties: false },
);
export type FileSchedule = Static<typeof FileSchedule>;

/** A configuration file, with the monitors without components. */
export const ApplyFile = Type.Object(
  {
    pages: Type.Array(FilePage),
    monitors: Monitors,
    webhooks: Type.Optional(Type.Array(FileWebhook)),
    incident_templates: Type.Optional(Type.Array(FileTemplate)),
    maintenance_schedules: Type.Optional(Type.Array(FileSchedule)),
  },
  { additionalProperties: false },
);
export type ApplyFile = Static<typeof ApplyFile>;
