/** `12b8d131…d757`: eight characters and four, enough to tell two ids of one list apart. */
export const shortId = (id: string): string =>
  id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`

/** `0x9aE1…77c3`: six and four. */
export const shortAddress = (address: string): string =>
  address.length <= 12 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`

export const isUuid = (text: string): boolean =>
  /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)

/** A masked account number: what the server left of it, and how much it hides. */
export function maskedParts(number: string): { readonly hidden: number; readonly shown: string } {
  const [, mask = '', shown = ''] = /^(X*)(.*)$/s.exec(number) ?? []
  return { hidden: mask.length, shown }
}

/** `···8846` of a masked number, and the last four characters of a full one. */
export const lastFour = (number: string): string => {
  const { hidden, shown } = maskedParts(number.replaceAll(/\s/g, ''))
  if (hidden > 0 && shown === '') return 'hidden'
  return hidden > 0 || shown.length > 4 ? `···${shown.slice(-4)}` : number
}

/** Two letters, two digits and ten characters or more: an International Bank Account Number. */
export const isIban = (number: string): boolean => /^[A-Z]{2}[0-9X]{2}[A-Z0-9]{10,30}$/.test(number)

/** Groups of four, as banks print an IBAN. */
export const inFours = (text: string): string => text.replace(/(.{4})(?=.)/g, '$1 ')
