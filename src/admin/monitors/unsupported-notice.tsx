import { originOf } from "../../features/monitors/probes";
import { Notice } from "../../ui/blocks";

/** Says that this version cannot check a monitor, and what people can do. */
export function UnsupportedNotice({ config }: { config: Readonly<Record<string, unknown>> }) {
  const { type, source } = originOf(config);
  return (
    <Notice tone="degraded" title="This version cannot check this monitor">
      <p>
        It was imported from {source}, where its type is {type}. Keep it with its history and its
        settings until a later version can check it, or delete it.
      </p>
    </Notice>
  );
}
