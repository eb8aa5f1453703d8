/** Parses an option's text. Throws an Error whose message ends the sentence "X …". */
type Parse<T> = (text: string) => T;

export interface Option<T> {
  /** Flag without dashes; undefined for a secret, since other processes can read arguments. */
  flag: string | undefined;
  env: string;
  parse: Parse<T>;
  default: string | undefined;
  /** Placeholder of the value in the help text. */
  placeholder: string;
  help: string;
  /** `everywhere`: every command takes it; `mail`: the server, and commands that mail, do; `serve`: only the server does. */
  scope: "everywhere" | "mail" | "serve";
  /** True if errors must not repeat the value, which may contain a secret. True for every option without a flag. */
  isHidden?: true;
  /** Variable that names a file with the value. A line break at its end is left out. */
  fileEnv?: string;
}

export function option<T>(declared: Option<T>): Option<T> {
  return declared;
}
