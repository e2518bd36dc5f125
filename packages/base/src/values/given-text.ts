import { codeOf } from './damaged-text.ts'

/** A line end or another control character, and at an end also blanks and invisible characters. */
const hidden =
  /[\p{Cc}\p{Zl}\p{Zp}]|^[\s\p{Cf}\p{Default_Ignorable_Code_Point}]|[\s\p{Cf}\p{Default_Ignorable_Code_Point}]$/u

/**
 * What a person does not see in the text of a setting, as the rest of a sentence. It would become
 * part of a name, a path or an issuer.
 */
export function hiddenFault(text: string): string | undefined {
  const [character] = hidden.exec(text) ?? []
  if (character === undefined) return undefined
  if (character === ' ') return 'begins or ends with a blank; take it out'
  const origin = character === '\r' ? ', as a file with Windows line ends leaves' : ''
  return `has the invisible character ${codeOf(character)}${origin}; take it out`
}

/**
 * What is wrong with an http or https URL, as the rest of a sentence. It quotes nothing, because a
 * URL may hold a password or a key. A parser mends much in silence, but issuers and links are
 * compared as texts. Lawful are a host in upper case or outside ASCII, the standard port, any form
 * of an IPv6 address, and no path.
 */
export function httpUrlFault(text: string): string | undefined {
  const unseen = hiddenFault(text)
  if (unseen !== undefined) return unseen
  if (/^[^?#]*\\/.test(text)) return 'has a \\; write / instead'
  const [, name = '', port, rest = ''] = form.exec(text) ?? []
  const url = URL.parse(text)
  if (name === '' || url === null) {
    return 'must be a URL such as https://api.example.com or http://127.0.0.1:8080'
  }
  const standardPort = url.protocol === 'http:' ? '80' : '443'
  if (!isHost(name, url.hostname) || (port ?? standardPort) !== (url.port || standardPort)) {
    return 'has a host or a port that a URL parser changes; write each in full'
  }
  const parsed = `${url.pathname}${url.search}${url.hash}`
  if (parsed === (rest.startsWith('/') ? rest : `/${rest}`)) return undefined
  return 'has a path or a query that a URL parser changes; write it without . and .. and an empty ?, and other characters as % escapes'
}

const form = /^https?:\/\/(?:[^/?#]*@)?(\[[^/?#]*\]|[^/?#:]*)(?::([^/?#]*))?([/?#].*)?$/

/** IPv6 addresses and names outside ASCII have lawful forms that the parser changes. */
const isHost = (name: string, parsed: string): boolean =>
  name.toLowerCase() === parsed || name.startsWith('[') || /(^|\.)xn--/.test(parsed)
