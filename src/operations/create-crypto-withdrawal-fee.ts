import { Type } from 'typebox'
import { described, enumOf, figure, text, unread, worded } from '../contract/fields.ts'
import { amountMember, enumMember, timestampMember, uuidMember } from '../contract/members.ts'
import { writeOperation } from '../contract/operation.ts'
import { cryptoNetworks } from '../values/network.ts'

export const createCryptoWithdrawalFee = writeOperation({
  id: 'createCryptoWithdrawalFee',
  summary: 'The fee of a crypto withdrawal, guaranteed until it expires.',
  tag: 'Fees',
  path: '/v2/transfer/fees/crypto-withdrawal',
  scope: 'fee:write_crypto_withdrawal_fee',
  body: {
    members: {
      asset: described(text, 'Currency to withdraw.'),
      destination_address: described(unread, 'Where to, on `crypto_network`.'),
      crypto_network: worded(enumOf(cryptoNetworks), 'invalid crypto_network'),
      amount: described(
        figure,
        'What shall arrive, greater than 0. Exactly one of amount and total is given.',
      ),
      total: described(
        figure,
        'What shall be paid in all, the fee included. Exactly one of amount and total is given.',
      ),
    },
    required: ['asset', 'destination_address', 'crypto_network'],
    oneOf: {
      members: ['amount', 'total'],
      both: 'only one of amount or total should be set',
      neither: 'either amount or total must be set',
    },
  },
  problems: {
    400: {
      types: [
        'unsupported-asset-network',
        'exceed-precision',
        'unsupported-address',
        'below-min-withdraw-limit',
      ],
    },
    429: {
      description: 'Too many requests, or too many open quotes; wait as Retry-After says.',
      types: ['too-many-open-quotes'],
    },
    503: {
      description: 'No fee can be guaranteed now; try again as Retry-After says.',
      types: ['fee-source-unavailable'],
    },
  },
  view: {
    name: 'CryptoWithdrawalFee',
    schema: Type.Object({
      id: uuidMember,
      fee: amountMember,
      asset: Type.String(),
      expires_at: timestampMember,
      destination_address: Type.String(),
      crypto_network: enumMember(cryptoNetworks),
      amount: Type.Optional(amountMember),
      total: Type.Optional(amountMember),
    }),
  },
})
