/**
 * Prepares a password for SCRAM (RFC 4013), as the server did when it stored it. libpq leaves a
 * password as it is if that fails, and so does the server.
 */
export async function preparePassword(password: string): Promise<string> {
  if (isAscii.test(password) || refusedByPostgres.test(password)) return password
  // Few passwords need its tables.
  const { saslprep } = await import('@mongodb-js/saslprep')
  try {
    return saslprep(password)
  } catch {
    return password
  }
}

const isAscii = /^[\0-\x7f]*$/

/**
 * PostgreSQL looks for code points that Unicode 3.2 lacks, or that are prohibited, before it
 * normalizes the password; the library does so after that. Here is what normalization would hide.
 * The two also differ over compatibility forms of Hebrew and Arabic letters, such as the alef
 * symbol, and over symbols such as ™ beside such letters.
 */
const refusedByPostgres =
  /[\u0340\u0341\u03f7-\u03ff\u10fc-\u10ff\u18aa-\u1dff\u208f-\u209f\u213b\u213c\u214c-\u2152\u2184-\u218f\u2b00-\u2e7f\u321d-\u321f\u3244-\u3250\u327c-\u327e\u32cc-\u32cf\u32ff\u3377-\u337a\u33de\u33df\u33ff\ua4c7-\uabff\ufa2e\ufa2f\ufa6b-\ufaff\ufe10-\ufe1f\ufe47\ufe48\u{1044e}-\u{1cfff}\u{1d4c1}\u{1d6a4}-\u{1d6a7}\u{1d7ca}-\u{1d7cd}\u{1d800}-\u{1ffff}]/u
