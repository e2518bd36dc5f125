import { systemTime } from '../../platform/time.ts'
import { parseInstant } from '../../values/instant.ts'
import type { Context, Statement } from '../check-statement.ts'
import type { Exchange } from '../client/exchange.ts'
import { feeOperation } from '../contract.ts'
import { textOf } from '../json.ts'
import { contract, extra } from '../source.ts'
import { hold, holdStatus, ifNotTestable, isRefusal, need } from '../verdicts.ts'
import { holdCaching } from './caching-statements.ts'

const fees = extra('docs/fees.md, “How a fee is computed”')

/** Guaranteed fees. Each accepted request stores one, so the operator must allow it. */
export const feeStatements: readonly Statement[] = [
  {
    id: 'fees.answer',
    says: 'A fee is answered 200 with every member of the contract, and echoes the withdrawal.',
    source: contract('4.7'),
    check: async (context) => {
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
    },
  },
  {
    id: 'fees.caching',
    says: 'A fee has Cache-Control no-store.',
    source: extra('docs/integrating.md, “Caching”'),
    check: async (context) => {
      const { answered } = await quoted(context, { amount: '100.50' })
      holdCaching(answered, 'no-store')
    },
  },
  {
    id: 'fees.sum',
    says: 'amount plus fee is exactly total, and the caller’s figure is answered as it was sent.',
    source: fees,
    check: async (context) => {
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
    },
  },
  {
    id: 'fees.unique',
    says: 'Each fee has its own id, for the same withdrawal too.',
    source: contract('2.11'),
    check: async (context) => {
      const ids = new Set<string | undefined>()
      for (const figure of [{ amount: '100.50' }, { amount: '100.50' }, { total: '100.50' }]) {
        const { answered } = await quoted(context, figure)
        const id = textOf(answered.body, 'id')
        hold(id !== undefined && !ids.has(id), 'its id is that of another fee', answered)
        ids.add(id)
      }
    },
  },
  refusal('fees.one-figure', 'Both or neither of amount and total is refused.', [
    { amount: '100', total: '100' },
    {},
  ]),
  refusal('fees.figures', 'A figure that is no decimal string above 0 is refused.', [
    ...['0', '-1', '1e3', '5.', ' 1', '+1', ''].map((amount) => ({ amount })),
    { amount: 100 },
  ]),
  refusal('fees.networks', 'A network that does not exist is refused.', [
    { amount: '100', crypto_network: 'NO_SUCH_NETWORK' },
  ]),
  refusal('fees.required', 'A request without asset or destination_address is refused.', [
    { amount: '100', asset: undefined },
    { amount: '100', destination_address: undefined },
  ]),
  refusal('fees.body', 'A body that is no JSON object is refused.', [[], 'text', 1]),
  {
    id: 'fees.checksum',
    says: 'An address whose checksum is wrong is refused.',
    source: extra('docs/fees.md, “Addresses”'),
    check: async (context) => {
      for (const { withdrawal, misspelt } of withdrawals) {
        await quotedFor(context, withdrawal, { amount: '100.50' })
        const sent = { ...withdrawal, destination_address: misspelt, amount: '100.50' }
        const answered = await post(context, sent)
        hold(isRefusal(answered), `it must be refused for ${misspelt}`, answered)
      }
    },
  },
  {
    id: 'fees.decimals',
    says: 'Zeros after the last decimal of the asset are accepted, other digits refused.',
    source: fees,
    check: async (context) => {
      const { request } = await quoted(context, { amount: '100.50' })
      const zeros = `100.50${'0'.repeat(20)}`
      const answered = await post(context, { ...request, amount: zeros })
      hold(answered.status === 200, 'zeros must be accepted', answered)
      const finer = await post(context, { ...request, amount: `${zeros}1` })
      hold(isRefusal(finer), 'it must be refused with 23 decimals', finer)
    },
  },
  {
    id: 'fees.null',
    says: 'A figure that is null counts as absent.',
    source: fees,
    check: async (context) => {
      const { request } = await quoted(context, { amount: '100.50' })
      const answered = await post(context, { ...request, amount: '100.50', total: null })
      holdStatus(answered, 200)
    },
  },
]

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

function refusal(id: string, says: string, bodies: readonly unknown[]): Statement {
  return {
    id,
    says,
    source: contract('4.7'),
    check: async (context) => {
      const [{ withdrawal }] = withdrawals
      for (const body of bodies) {
        const isMembers = typeof body === 'object' && !Array.isArray(body)
        const answered = await post(context, isMembers ? { ...withdrawal, ...body } : body)
        const says = `it must be refused with ${JSON.stringify(body)}`
        hold(isRefusal(answered), says, answered)
      }
    },
  }
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
