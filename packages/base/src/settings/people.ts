import { type Static, Type } from 'typebox'
import { withRule } from '../schema-faults.ts'
import { hiddenFault } from '../values/given-text.ts'

/**
 * What a person may do: look up masked records, see records in full, export lists, and see who saw
 * records in full.
 */
export const rights = ['look_up', 'see_full', 'export', 'audit'] as const
export type Right = (typeof rights)[number]

export const text = withRule(Type.String({ minLength: 1, reason: 'must be text' }), hiddenFault)

/** What a value of the claim grants. `{customer}` in a value stands for a customer's id. */
const grant = Type.Refine(
  Type.Object(
    {
      value: Type.String({ minLength: 1 }),
      /** A customer's id, `*` for all customers, or `{customer}` for the one in the value. */
      customer: Type.String({ minLength: 1 }),
      rights: Type.Array(Type.Enum([...rights]), { minItems: 1 }),
    },
    {
      additionalProperties: false,
      reason: `must be {"value": TEXT, "customer": TEXT, "rights": [RIGHT, …]}; the rights are ${rights.join(', ')}`,
    },
  ),
  ({ value, customer }) => isPlaced(value, customer),
  () => `must have ${placeholder} once in value and as customer, or not`,
)
type Grant = Readonly<Static<typeof grant>>

/** The persons of a trusted issuer who sign in to the console. */
export const peopleSchema = Type.Object(
  {
    /** The console's own client at the issuer. It is public: it has no secret and uses PKCE. */
    clientId: text,
    /** What the console asks the issuer for. */
    scope: Type.Optional(text),
    /** What an issuer wants in the authorization request besides, such as `resource`. */
    parameters: Type.Optional(
      Type.Record(Type.String({ pattern: '^[\\s\\S]*$' }), Type.String({ minLength: 1 }), {
        reason: 'must be an object of texts',
      }),
    ),
    /** The claim that grants are looked up by: a string, or an array of strings. */
    claim: text,
    grants: Type.Array(grant, { minItems: 1, reason: 'must be a list of grants' }),
  },
  { additionalProperties: false, reason: 'must be an object', called: 'it' },
)

export type People = Readonly<Required<Static<typeof peopleSchema>>>

/** What a person may do, for one customer or for all. */
export type Granted = { readonly customerId: string | null; readonly rights: ReadonlySet<Right> }

export const peopleWithDefaults = (given: Static<typeof peopleSchema>): People => ({
  scope: 'openid',
  parameters: {},
  ...given,
})

/** Whether the placeholder is in the value and is the customer, or neither. */
function isPlaced(value: string, customer: string): boolean {
  const names = value.split(placeholder).length - 1
  return names <= 1 && (names === 1) === (customer === placeholder)
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

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
