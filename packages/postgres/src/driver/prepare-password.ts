/**
 * Prepares a password for SCRAM (RFC 4013), as the server did when it stored it. libpq leaves a
 * password as it is if that fails, and so does the server.
 */
export async function preparePassword(password: string): Promise<string> {
  if (isAscii.test(password) || refusedByPostgres.test(password)) return password
  const mapped = password.replaceAll(spaces, ' ').replaceAll(mappedToNothing, '')
  if (mapped === '') return password
  // Few passwords need its tables.
  const { saslprep } = await import('@mongodb-js/saslprep')
  try {
    saslprep(unalterable(mapped))
    return mapped.normalize('NFKC')
  } catch {
    return password
  }
}

const isAscii = /^[\0-\x7f]*$/

/** RFC 3454, tables C.1.2 and B.1. */
const spaces = /[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000]/g
const mappedToNothing =
  /\u00ad|\u034f|\u1806|[\u180b-\u180d]|\u200c|\u200d|\u2060|[\ufe00-\ufe0f]|\ufeff/g

/**
 * PostgreSQL judges what is prohibited, unassigned or of which direction before it normalizes the
 * password; the library does so after that. So the library judges a text that has one character of
 * the same kind for each character, and that normalization does not change.
 */
const unalterable = (password: string): string =>
  [...password.replaceAll(toLeft, '\u05d0').replaceAll(toRight, 'a').replaceAll(toNeither, '!')]
    // Nothing combines with this mark, which has no direction.
    .join('!')

/** RFC 3454's direction of what normalization gives another one: to the left (table D.1). */
const toLeft =
  /[\u0675-\u0678\ufb1d\ufb1f-\ufb28\ufb2a-\ufb36\ufb38-\ufb3c\ufb3e\ufb40\ufb41\ufb43\ufb44\ufb46-\ufbb1\ufbd3-\ufd3d\ufd50-\ufd8f\ufd92-\ufdc7\ufdf0-\ufdfc\ufe70-\ufe74\ufe76-\ufefc]/g
/** To the right (table D.2). */
const toRight = /[\u037a\u2135-\u2138\uff9e\uff9f\u{1d6c1}-\u{1d7c3}]/gu
/** Neither, as of symbols that stand for words, and of the radicals of Chinese. */
const toNeither =
  /[\u20a8\u2100\u2101\u2103-\u2106\u2109\u2116\u2120-\u2122\u2e9f-\u2ef3\u2f00-\u2fd5]/g

/**
 * Code points that Unicode 3.2 lacks, or that are prohibited, which normalization would hide. The
 * last two are missing in the library.
 */
const refusedByPostgres =
  /[\u0340\u0341\u03f7-\u03ff\u10fc-\u10ff\u18aa-\u1dff\u208f-\u209f\u213b\u213c\u214c-\u2152\u2184-\u218f\u2b00-\u2e7f\u321d-\u321f\u3244-\u3250\u327c-\u327e\u32cc-\u32cf\u32ff\u3377-\u337a\u33de\u33df\u33ff\ua4c7-\uabff\ufa2e\ufa2f\ufa6b-\ufaff\ufe10-\ufe1f\ufe47\ufe48\u{1044e}-\u{1cfff}\u{1d4c1}\u{1d6a4}-\u{1d6a7}\u{1d7ca}-\u{1d7cd}\u{1d800}-\u{1ffff}\u{ffffe}\u{fffff}]/u
