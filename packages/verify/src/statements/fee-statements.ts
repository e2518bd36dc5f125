import { parseInstant, systemTime } from '@bursar/base'
import { type Check, type Checks, type Context, once } from '../check-statement.ts'
import type { Exchange } from '../client/exchange.ts'
import { feeOperation } from '../contract.ts'
import { textOf } from '../json.ts'
import { hold, holdStatus, ifNotTestable, isRefusal, need } from '../verdicts.ts'
import { holdCaching } from './caching-statements.ts'

/** Guaranteed fees. Each accepted request stores one, so the operator must allow it. */
export const feeStatements: Checks = {
  'fees.answer': once(async (context) => {
    const { request, answered } = await quoted(context, { amount: '100.50' })
    const [fault] = feeOperation
      .shape(answered.body, 'body')
      .filter(({ kind }) => kind !== 'unknown members')
    hold(fault === undefined, fault?.says ?? '', answered)
    for (const name of ['asset', 'destination_address', 'crypto_network'] as const) {
      hold(textOf(answered.body, name) === request[name], `${name} differs`, answered)
    }
    const expires = parseInstant(textOf(answered.body, 'expires_at') ?? '')?.micros ?? 0n
    hold(expires > systemTime.now(), 'expires_at is not in the future', answered)
  }),
  'fees.caching': once(async (context) => {
    const { answered } = await quoted(context, { amount: '100.50' })
    holdCaching(answered, 'no-store')
  }),
  'fees.sum': once(async (context) => {
    for (const figure of ['amount', 'total'] as const) {
      const { answered } = await quoted(context, { [figure]: '100.50' })
      const isEchoed = textOf(answered.body, figure) === '100.50'
      hold(isEchoed, `${figure} must be answered as it was sent`, answered)
      const [amount, fee, total] = ['amount', 'fee', 'total'].map((name) =>
        unitsOf(textOf(answered.body, name)),
      )
      const areThere = amount !== undefined && fee !== undefined && total !== undefined
      hold(areThere && amount + fee === total, 'amount plus fee is not total', answered)
    }
  }),
  'fees.unique': once(async (context) => {
    const ids = new Set<string | undefined>()
    for (const figure of [{ amount: '100.50' }, { amount: '100.50' }, { total: '100.50' }]) {
      const { answered } = await quoted(context, figure)
      const id = textOf(answered.body, 'id')
      hold(id !== undefined && !ids.has(id), 'its id is that of another fee', answered)
      ids.add(id)
    }
  }),
  'fees.one-figure': refuses([{ amount: '100', total: '100' }, {}]),
  'fees.figures': refuses([
    ...['0', '-1', '1e3', '5.', ' 1', '+1', ''].map((amount) => ({ amount })),
    { amount: 100 },
  ]),
  'fees.networks': refuses([{ amount: '100', crypto_network: 'NO_SUCH_NETWORK' }]),
  'fees.required': refuses([
    { amount: '100', asset: undefined },
    { amount: '100', destination_address: undefined },
  ]),
  'fees.body': refuses([[], 'text', 1]),
  'fees.checksum': once(async (context) => {
    for (const { withdrawal, misspelt } of withdrawals) {
      await quotedFor(context, withdrawal, { amount: '100.50' })
      const sent = { ...withdrawal, destination_address: misspelt, amount: '100.50' }
      const answered = await post(context, sent)
      hold(isRefusal(answered), `it must be refused for ${misspelt}`, answered)
    }
  }),
  'fees.decimals': once(async (context) => {
    const { request } = await quoted(context, { amount: '100.50' })
    const zeros = `100.50${'0'.repeat(20)}`
    const answered = await post(context, { ...request, amount: zeros })
    hold(answered.status === 200, 'zeros must be accepted', answered)
    const finer = await post(context, { ...request, amount: `${zeros}1` })
    hold(isRefusal(finer), 'it must be refused with 23 decimals', finer)
  }),
  'fees.null': once(async (context) => {
    const { request } = await quoted(context, { amount: '100.50' })
    const answered = await post(context, { ...request, amount: '100.50', total: null })
    holdStatus(answered, 200)
  }),
}

/** Withdrawals that an implementation is likely to support. */
const withdrawals = [
  {
    withdrawal: {
      asset: 'USDC',
      crypto_network: 'ETHEREUM',
      destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
    },
    misspelt: '0xF0aa84466e353E5390be37FE2934301c07c19a55',
  },
  {
    withdrawal: {
      asset: 'BTC',
      crypto_network: 'BITCOIN',
      destination_address: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    },
    misspelt: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5',
  },
] as const

function refuses(bodies: readonly unknown[]): Check {
  return once(async (context) => {
    const [{ withdrawal }] = withdrawals
    for (const body of bodies) {
      const isMembers = typeof body === 'object' && !Array.isArray(body)
      const answered = await post(context, isMembers ? { ...withdrawal, ...body } : body)
      hold(isRefusal(answered), `it must be refused with ${JSON.stringify(body)}`, answered)
    }
  })
}

type Withdrawal = (typeof withdrawals)[number]['withdrawal']
type Figures = Readonly<Record<string, string>>

/** Asks for a fee. Not testable if the server guarantees none for any of the withdrawals. */
async function quoted(context: Context, figures: Figures) {
  const [first, second] = withdrawals
  const found = await quotedFor(context, first.withdrawal, figures).catch(ifNotTestable)
  return found ?? quotedFor(context, second.withdrawal, figures)
}

/** Not testable if the server guarantees no fee for the withdrawal. */
async function quotedFor(context: Context, request: Withdrawal, figures: Figures) {
  const answered = await post(context, { ...request, ...figures })
  const { status } = answered
  hold([200, 400, 503].includes(status), 'the status must be 200', answered)
  const { asset, crypto_network } = request
  need(
    status === 200,
    `the server guarantees no fee for ${asset} on ${crypto_network}: HTTP ${status}`,
  )
  return { request, answered }
}

async function post({ session, allowFees }: Context, body: unknown): Promise<Exchange> {
  need(allowFees, 'creating fees was not allowed (--allow-fees)')
  session.needScope(feeOperation.scope)
  const headers = { 'content-type': 'application/json' }
  return session.call(feeOperation.path, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Decimal text in units of 36 decimals, or undefined. */
function unitsOf(figure: string | undefined): bigint | undefined {
  if (figure === undefined || !/^[0-9]*\.?[0-9]+$/.test(figure)) return undefined
  const [whole = '', fraction = ''] = figure.split('.')
  if (figure.length > 100 || fraction.length > 36) return undefined
  return BigInt(`${whole}${fraction.padEnd(36, '0')}`)
}
