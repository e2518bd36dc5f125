import { Type } from 'typebox'
import { about, component, enumMember } from '../../members.ts'
import { operation } from '../../operation.ts'
import { guaranteedFeeMembers } from './guaranteed-fee-members.ts'

const { destination_address, amount, fee, total, ...kept } = guaranteedFeeMembers

/** They are erased with their customer. */
const erasable = Type.Partial(Type.Object({ destination_address, amount, fee, total })).properties

export const getWithdrawalFee = operation({
  id: 'getWithdrawalFee',
  title: 'Read a guaranteed fee',
  summary: 'Returns a guaranteed fee of any customer: its state, its terms and its withdrawal.',
  tag: 'Fees',
  method: 'GET',
  path: '/ingest/v1/fees/:id',
  scope: 'ingest:search',
  answers: { 404: { description: 'There is no such fee.' } },
  view: {
    name: 'GuaranteedFeeState',
    schema: Type.Object(
      {
        ...kept,
        ...erasable,
        state: about(
          'Consumed by a withdrawal, else expired by the clock of the store, else open.',
          component(
            'FeeState',
            'What has become of a guaranteed fee.',
            enumMember(['OPEN', 'CONSUMED', 'EXPIRED']),
          ),
        ),
      },
      {
        description:
          'A guaranteed fee, and what has become of it. Where its customer was erased, it has no address and no figures.',
      },
    ),
  },
})
