import { Type } from 'typebox'
import { described, figure, memberOf, text, unread, worded } from '../../fields.ts'
import { cryptoNetworkMember } from '../../members.ts'
import { operation } from '../../operation.ts'
import { guaranteedFeeMembers } from './guaranteed-fee-members.ts'

export const consumeWithdrawalFee = operation({
  id: 'consumeWithdrawalFee',
  title: 'Consume a guaranteed fee',
  summary:
    'Takes a guaranteed fee for one withdrawal; the same withdrawal again gets the same answer.',
  tag: 'Fees',
  method: 'POST',
  path: '/ingest/v1/fees/:id/consume',
  scope: 'ingest:consume_fee',
  body: {
    members: {
      customer_id: described(text, 'Whose withdrawal it is.'),
      asset: described(text, 'Currency that is withdrawn.'),
      crypto_network: described(
        worded(memberOf(cryptoNetworkMember), 'invalid crypto_network'),
        'The network of the withdrawal.',
      ),
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
  answers: {
    404: { description: 'There is no such fee of this customer.' },
    409: {
      description:
        'The fee is another withdrawal’s, was quoted for other figures, has expired, is not reconciled after a restore, or its customer was erased.',
      types: ['fee-mismatched', 'fee-consumed', 'fee-expired', 'fee-not-reconciled'],
    },
  },
  view: {
    name: 'ConsumedFee',
    schema: Type.Object(guaranteedFeeMembers, {
      description: 'A guaranteed fee and the withdrawal that has taken it.',
    }),
  },
})
