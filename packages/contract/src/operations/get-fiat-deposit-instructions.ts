import { getOperation } from '../operation.ts'
import { fiatDepositInstructions } from '../resources/fiat-deposit-instructions.ts'

export const getFiatDepositInstructions = getOperation({
  id: 'getFiatDepositInstructions',
  summary: 'One set of fiat deposit instructions, with the memo that a wire must carry.',
  tag: 'Fiat deposit instructions',
  path: '/v2/transfer/fiat-deposit-instructions/:id',
  scope: 'transfer:read_fiat_deposit_instructions',
  view: fiatDepositInstructions.full,
  malformedId: (given) => `expected uuid, got ${given}`,
  unknownId: (id) => `fiat deposit instructions with id ${id} not found`,
})
