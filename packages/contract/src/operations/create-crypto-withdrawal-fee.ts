import { Type } from 'typebox'
import { described, figure, memberOf, text, unread, worded } from '../fields.ts'
import {
  about,
  amountMember,
  cryptoNetworkMember,
  timestampMember,
  uuidMember,
} from '../members.ts'
import { type Body, operation } from '../operation.ts'

/** A withdrawal, whose members other forms of it share. */
export const cryptoWithdrawal: Body = {
  members: {
    asset: described(text, 'Currency to withdraw.'),
    destination_address: described(unread, 'Where to, on `crypto_network`.'),
    crypto_network: described(
      worded(memberOf(cryptoNetworkMember), 'invalid crypto_network'),
      'The network to withdraw on.',
    ),
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
}

export const createCryptoWithdrawalFee = operation({
  id: 'createCryptoWithdrawalFee',
  summary: 'The fee of a crypto withdrawal, guaranteed until it expires.',
  tag: 'Fees',
  method: 'POST',
  path: '/v2/transfer/fees/crypto-withdrawal',
  scope: 'fee:write_crypto_withdrawal_fee',
  body: cryptoWithdrawal,
  answers: {
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
    schema: Type.Object(
      {
        id: about('Identifier of the guaranteed fee.', uuidMember),
        fee: about('The guaranteed fee, in the asset.', amountMember),
        asset: about('Currency to withdraw.', Type.String()),
        expires_at: about('Until when the fee is guaranteed.', timestampMember),
        destination_address: about('Where the withdrawal goes.', Type.String()),
        crypto_network: about('The network of the withdrawal.', cryptoNetworkMember),
        amount: Type.Optional(about('What arrives; amount plus fee is total.', amountMember)),
        total: Type.Optional(about('What is paid in all, the fee included.', amountMember)),
      },
      { description: 'A fee that is guaranteed until it expires.' },
    ),
  },
})
