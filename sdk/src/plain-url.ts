/**
 * The URL, or a TypeError before the first call. A parser takes line ends, tabs and blanks out and
 * turns a backslash, in silence; the audience of an assertion would keep them.
 */
export function requirePlainUrl(name: string, text: string): string {
  if (!/^https?:\/\/[^/?#]/.test(text)) {
    throw new TypeError(`${name} must start with https:// or http://, as in http://127.0.0.1:8080`)
  }
  if (/[\s\p{Cc}\p{Cf}\\]/u.test(text)) {
    throw new TypeError(`${name} must have no blank, line end, invisible character or \\`)
  }
  try {
    return new URL(text).href
  } catch {
    throw new TypeError(`${name} must be a URL, as in http://127.0.0.1:8080`)
  }
}
