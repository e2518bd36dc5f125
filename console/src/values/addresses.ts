import { countryCode, countryName } from './countries.ts'

/** An address as the API answers it. Lists of fiat accounts have the country alone. */
export type PostalAddress = {
  readonly country?: unknown
  readonly address1?: unknown
  readonly address2?: unknown
  readonly city?: unknown
  readonly province?: unknown
  readonly zip_code?: unknown
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value.trim() : '')
const joined = (parts: readonly string[], separator: string): string =>
  parts.filter((part) => part !== '').join(separator)

/** Where the postal code stands in the line of the city. */
const cityFirst = new Set(['US', 'CA', 'AU', 'PR', 'NZ', 'IN', 'TW', 'KR', 'TH', 'ID', 'SG', 'JP'])
const codeLast = new Set(['GB', 'IE', 'IM', 'JE', 'GG', 'ZA', 'HK'])

/** The lines of an envelope, in the order of the country. */
export function addressLines(address: PostalAddress): readonly string[] {
  const [city, province, code] = [address.city, address.province, address.zip_code].map(textOf)
  const country = textOf(address.country)
  return [
    textOf(address.address1),
    textOf(address.address2),
    ...cityLines(countryCode(country) ?? '', city ?? '', province ?? '', code ?? ''),
    countryName(country),
  ].filter((line) => line !== '')
}

function cityLines(
  country: string,
  city: string,
  province: string,
  code: string,
): readonly string[] {
  if (codeLast.has(country)) return [joined([city, province], ', '), code]
  if (cityFirst.has(country)) return [joined([city, joined([province, code], ' ')], ', ')]
  return [joined([joined([code, city], ' '), province], ', ')]
}
