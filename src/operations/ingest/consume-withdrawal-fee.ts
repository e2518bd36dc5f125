import { Type } from 'typebox'
import { described, enumOf, figure, text, unread, worded } from '../../contract/fields.ts'
import { amountMember, enumMember, timestampMember, uuidMember } from '../../contract/members.ts'
import { ingestOperation } from '../../contract/operation.ts'
import { cryptoNetworks } from '../../values/network.ts'

export const consumeWithdrawalFee = ingestOperation({
  id: 'consumeWithdrawalFee',
  summary:
    'Takes a guaranteed fee for one withdrawal; the same withdrawal again gets the same answer.',
  tag: 'Fees',
  path: '/ingest/v1/fees/:id/consume',
  scope: 'ingest:consume_fee',
  body: {
    members: {
      customer_id: described(text, 'Whose withdrawal it is.'),
      asset: text,
      crypto_network: worded(enumOf(cryptoNetworks), 'invalid crypto_network'),
      destination_address: described(unread, 'In any spelling that the network has for it.'),
      amount: described(figure, 'What arrives, the fee not included.'),
      withdrawal: described(
        text,
        'The withdrawal’s own reference, unique in the system that pays.',
      ),
    },
    required: [
      'customer_id',
      'asset',
      'crypto_network',
      'destination_address',
      'amount',
      'withdrawal',
    ],
  },
  problems: {
    404: { description: 'There is no such fee of this customer.' },
    409: {
      description: 'The fee is another withdrawal’s, was quoted for other figures, or has expired.',
      types: ['fee-mismatched', 'fee-consumed', 'fee-expired'],
    },
  },
  view: {
    name: 'ConsumedFee',
    schema: Type.Object({
      id: uuidMember,
      customer_id: Type.String(),
      asset: Type.String(),
      crypto_network: enumMember(cryptoNetworks),
      destination_address: Type.String(),
      amount: amountMember,
      fee: amountMember,
      total: amountMember,
      created_at: timestampMember,
      expires_at: timestampMember,
      withdrawal: Type.Optional(Type.String()),
      consumed_at: Type.Optional(timestampMember),
    }),
  },
})
