import { printable } from '../../values/printable.ts'

/** What a person may do: look up masked records, see records in full, export lists. */
export const rights = ['look_up', 'see_full', 'export'] as const
export type Right = (typeof rights)[number]

/** The persons of a trusted issuer who sign in to the console. */
export type People = {
  /** The console's own client at the issuer. It is public: it has no secret and uses PKCE. */
  readonly clientId: string
  /** What the console asks the issuer for. */
  readonly scope: string
  /** What an issuer wants in the authorization request besides, such as `resource`. */
  readonly parameters: Readonly<Record<string, string>>
  /** The claim that grants are looked up by: a string, or an array of strings. */
  readonly claim: string
  readonly grants: readonly Grant[]
}

/** What a value of the claim grants. `{customer}` in a value stands for a customer's id. */
type Grant = {
  readonly value: string
  /** A customer's id, `*` for all customers, or `{customer}` for the one in the value. */
  readonly customer: string
  readonly rights: readonly Right[]
}

/** What a person may do, for one customer or for all. */
export type Granted = { readonly customerId: string | null; readonly rights: ReadonlySet<Right> }

/** Reads the member `people` of a trusted issuer. Adds every fault to `faults`. */
export function readPeople(given: unknown, at: string, faults: string[]): People | undefined {
  if (given === undefined) return undefined
  if (!isObject(given)) {
    faults.push(`${at}.people must be an object`)
    return undefined
  }
  const text = (name: string, fallback?: string): string => {
    const value = given[name] ?? fallback
    if (isText(value)) return value
    faults.push(`${at}.people.${name} must be text`)
    return ''
  }
  const people = {
    clientId: text('clientId'),
    scope: text('scope', 'openid'),
    parameters: readTexts(given.parameters ?? {}, `${at}.people.parameters`, faults),
    claim: text('claim'),
    grants: readGrants(given.grants, `${at}.people.grants`, faults),
  }
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(people, name)) {
      faults.push(`${at}.people has ${printable(name)}, which is not a member of it`)
    }
  }
  return people
}

/**
 * What the values of the claim grant together. Grants of several customers are refused, so that no
 * right for one customer counts for another.
 */
export function grantedBy({ grants }: People, claim: unknown): Granted | undefined {
  const values = (Array.isArray(claim) ? claim : [claim]).filter(isText)
  const matched = values.flatMap((value) => grants.flatMap((grant) => matchOf(grant, value) ?? []))
  const [first] = matched
  if (first === undefined) return undefined
  if (matched.some(({ customerId }) => customerId !== first.customerId)) return undefined
  return { customerId: first.customerId, rights: new Set(matched.flatMap((match) => match.rights)) }
}

function matchOf({ value, customer, rights }: Grant, claimed: string) {
  const [before = '', after] = value.split(placeholder)
  if (after === undefined) {
    return claimed === value
      ? { customerId: customer === '*' ? null : customer, rights }
      : undefined
  }
  const isMatch = claimed.startsWith(before) && claimed.endsWith(after)
  const customerId = claimed.slice(before.length, claimed.length - after.length)
  return isMatch && plausibleId.test(customerId) ? { customerId, rights } : undefined
}

const placeholder = '{customer}'
/** No separator of the value is part of an id, so `finance/acme/other` grants nothing. */
const plausibleId = /^[\p{L}\p{N}_.:-]{1,200}$/u

function readGrants(given: unknown, at: string, faults: string[]): readonly Grant[] {
  if (!Array.isArray(given) || given.length === 0) {
    faults.push(`${at} must be a list of grants`)
    return []
  }
  return given.flatMap((entry: unknown, index) => {
    const { value, customer, rights: named, ...others } = isObject(entry) ? entry : {}
    const isComplete = isText(value) && isText(customer) && Object.keys(others).length === 0
    const isKnown = Array.isArray(named) && named.length > 0 && named.every(isRight)
    if (!isComplete || !isKnown) {
      const form = '{"value": TEXT, "customer": TEXT, "rights": [RIGHT, …]}'
      faults.push(`${at}[${index}] must be ${form}; the rights are ${rights.join(', ')}`)
      return []
    }
    const names = value.split(placeholder).length - 1
    if (names > 1 || (names === 1) !== (customer === placeholder)) {
      faults.push(`${at}[${index}] must have ${placeholder} once in value and as customer, or not`)
    }
    return [{ value, customer, rights: named }]
  })
}

function readTexts(given: unknown, at: string, faults: string[]): Readonly<Record<string, string>> {
  if (!isObject(given)) {
    faults.push(`${at} must be an object of texts`)
    return {}
  }
  const entries = Object.entries(given)
  const texts = entries.filter((entry): entry is [string, string] => isText(entry[1]))
  if (texts.length < entries.length) faults.push(`${at} must be an object of texts`)
  return Object.fromEntries(texts)
}

export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isRight = (value: unknown): value is Right => rights.some((right) => right === value)
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
