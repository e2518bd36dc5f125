import { Type } from 'typebox'
import { described, figure, memberOf, text, unread, worded } from '../../contract/fields.ts'
import {
  about,
  amountMember,
  cryptoNetworkMember,
  timestampMember,
  uuidMember,
} from '../../contract/members.ts'
import { ingestOperation } from '../../contract/operation.ts'

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
  problems: {
    404: { description: 'There is no such fee of this customer.' },
    409: {
      description:
        'The fee is another withdrawal’s, was quoted for other figures, has expired, or is not reconciled after a restore.',
      types: ['fee-mismatched', 'fee-consumed', 'fee-expired', 'fee-not-reconciled'],
    },
  },
  view: {
    name: 'ConsumedFee',
    schema: Type.Object(
      {
        id: about('Identifier of the guaranteed fee.', uuidMember),
        customer_id: about('Whose withdrawal it is.', Type.String()),
        asset: about('Currency that is withdrawn.', Type.String()),
        crypto_network: about('The network of the withdrawal.', cryptoNetworkMember),
        destination_address: about('Where the withdrawal goes.', Type.String()),
        amount: about('What arrives; amount plus fee is total.', amountMember),
        fee: about('The guaranteed fee, in the asset.', amountMember),
        total: about('What is paid in all, the fee included.', amountMember),
        created_at: about('When the fee was quoted.', timestampMember),
        expires_at: about('Until when the fee is guaranteed.', timestampMember),
        withdrawal: Type.Optional(about('The withdrawal that has the fee.', Type.String())),
        consumed_at: Type.Optional(about('When the withdrawal took the fee.', timestampMember)),
      },
      { description: 'A guaranteed fee and the withdrawal that has taken it.' },
    ),
  },
})
