/* URLs of the web in texts from people. Each caller says in its own words why it rejects a text, and what else it rejects. */

/**
 * Maximum length of a text that is read, in UTF-16 units. Converting an international host takes time that grows with
 * the square of its length.
 */
const READ_MAX = 4_000;

/** Returns the URL in a text, as the runtime reads it; undefined for other texts and for schemes besides http and https. */
export function parseWebUrl(text: string): URL | undefined {
  if (text.length > READ_MAX) return undefined;
  const url = URL.parse(text);
  return url?.protocol === "https:" || url?.protocol === "http:" ? url : undefined;
}

/**
 * Returns true for a URL with a user name or password. It can contain a secret, and can imitate another site:
 * `https://bank.example@elsewhere.example`.
 */
export function hasUserInfo({ username, password }: URL): boolean {
  return username !== "" || password !== "";
}
