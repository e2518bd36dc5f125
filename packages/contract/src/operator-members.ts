import { Type } from 'typebox'
import { timestampMember, withoutLeapSecond } from './members.ts'

const sourceVersion = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  reason: 'must be a whole number from 0 to 9007199254740991',
})

const deletedAt = withoutLeapSecond(
  Type.Unsafe<string | null>({
    ...timestampMember,
    type: ['string', 'null'],
    reason: 'must be null or an RFC 3339 date-time with at most six fraction digits',
  }),
)

/** Members that the operator's systems send besides the contract's. No answer contains them. */
export const operatorMembers = {
  versioned: { source_version: Type.Optional(sourceVersion) },
  deletable: {
    deleted_at: Type.Optional(deletedAt),
    source_version: Type.Optional(sourceVersion),
  },
} as const
