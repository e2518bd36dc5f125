import { Type } from 'typebox'
import {
  about,
  amountMember,
  cryptoNetworkMember,
  timestampMember,
  uuidMember,
} from '../../members.ts'

/** A guaranteed fee as the operator's systems see it. */
export const guaranteedFeeMembers = {
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
} as const
