import { controlAttributes, Field, type FieldProps } from "./field";
import { ToneIcon } from "./tone-icon";

interface FileFieldProps extends FieldProps {
  /** The media types to choose from, such as `image/png`. */
  accept: readonly string[];
  /** The most that the file may weigh. A script says so before the file is sent. */
  maxBytes: number;
}

/** One file. It stands in a `Form` with `sendsFiles`. */
export function FileField({ accept, maxBytes, ...field }: FileFieldProps) {
  const limit = `${maxBytes / 1_024} KiB`;
  return (
    <Field {...field}>
      <input
        class="input"
        type="file"
        accept={accept.join(",")}
        data-max-bytes={maxBytes}
        {...controlAttributes(field)}
      />
      <p class="field-error" role="alert" hidden>
        <ToneIcon tone="danger" />
        <span>The file is larger than {limit}. Choose a smaller one.</span>
      </p>
    </Field>
  );
}
