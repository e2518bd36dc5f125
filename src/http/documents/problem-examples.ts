import { limits } from '../../platform/limits.ts'

/** What a problem page shows beside status, type and title. */
export type ProblemExample = {
  readonly detail: string
  /** The path of the request. */
  readonly path: string
  readonly meta?: Readonly<Record<string, unknown>>
}

const accounts = '/v2/transfer/fiat-accounts'
const stored = '/ingest/v1/fiat-accounts/99999999-9999-4999-8999-999999999999'
const fee = '/v2/transfer/fees/crypto-withdrawal'
const consume = '/ingest/v1/fees/01a2004b-4abc-726b-9ad9-09f8eb63e348/consume'

/** Answers of the sandbox, by the name of the problem: its slug, or its status. */
export const problemExamples: Readonly<Record<string, ProblemExample | undefined>> = {
  'unsupported-asset-network': {
    detail: 'DOGE cannot be withdrawn on STELLAR, which offers USDC, XLM',
    path: fee,
    meta: { offered: ['USDC', 'XLM'] },
  },
  'unsupported-address': {
    detail:
      'destination_address is refused: The EIP-55 checksum in its upper and lower case is wrong.',
    path: fee,
    meta: { fault: 'checksum' },
  },
  'exceed-precision': {
    detail: 'amount must have at most 6 decimals, as USDC has on ETHEREUM',
    path: fee,
    meta: { figure: 'amount', decimals: 6 },
  },
  'below-min-withdraw-limit': {
    detail: 'the amount must be at least 0.00000294 BTC on BITCOIN; the fee is 0.00002613',
    path: fee,
    meta: { minimum: '0.00000294', amount: '0.000001', fee: '0.00002613' },
  },
  'too-many-open-quotes': {
    detail: 'the client holds 1000 guaranteed fees, which is the most; use them or let them expire',
    path: fee,
    meta: { open_max: 1000, next_expires_at: '2026-11-21T22:56:52Z' },
  },
  'fee-source-unavailable': {
    detail: 'no fee can be guaranteed on ETHEREUM now, try again shortly',
    path: fee,
  },
  'fee-mismatched': {
    detail: 'the fee was quoted for another withdrawal: amount differ',
    path: consume,
    meta: {
      mismatched: ['amount'],
      quoted: {
        asset: 'USDC',
        crypto_network: 'ETHEREUM',
        destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
        amount: '100',
      },
    },
  },
  'fee-consumed': {
    detail: 'the fee was consumed by another withdrawal',
    path: consume,
    meta: { withdrawal: 'w-1', consumed_at: '2026-11-21T22:47:44.099Z' },
  },
  'fee-expired': {
    detail: 'the fee was guaranteed until 2026-11-21T22:38:40Z',
    path: consume,
    meta: { expires_at: '2026-11-21T22:38:40Z' },
  },
  'fee-not-reconciled': {
    detail:
      'a withdrawal may have consumed the fee after the backup that was restored; compare it with the system that pays, then run `bursar reconcile --reconciled`',
    path: consume,
    meta: { restored_at: '2026-11-21T22:50:12.043Z' },
  },
  400: {
    detail: 'limit must be between 1 and 1000',
    path: accounts,
    meta: {
      errors: [{ parameter: 'limit', code: 'out_of_range', reason: 'must be between 1 and 1000' }],
    },
  },
  401: { detail: 'no authorization header set', path: accounts },
  403: {
    detail:
      "insufficient scopes: found 'statements:read_statement', required one of '[transfer:read_fiat_account]'",
    path: accounts,
  },
  404: {
    detail: "no fiat account found for id: '99999999-9999-4999-8999-999999999999'",
    path: `${accounts}/99999999-9999-4999-8999-999999999999`,
  },
  405: { detail: 'the method must be GET or HEAD', path: accounts },
  408: { detail: 'the request was not sent whole in time', path: '' },
  409: {
    detail: 'ref_id is already the ref_id of another fiat account of this customer',
    path: stored,
    meta: {
      fault_count: 1,
      errors: [
        {
          member: 'ref_id',
          code: 'taken',
          reason: 'is already the ref_id of another fiat account of this customer',
        },
      ],
    },
  },
  410: {
    detail:
      'fiat-accounts of this customer are kept since 2026-01-01T00:00:00Z; earlier states are unknown',
    path: stored,
    meta: { kept_since: '2026-01-01T00:00:00Z' },
  },
  412: { detail: 'another version is stored; read it, and send its entity tag', path: stored },
  413: { detail: `the body must have at most ${limits.bodyBytesMax} bytes`, path: fee },
  415: {
    detail: 'the body must not be compressed; send it without Content-Encoding',
    path: fee,
  },
  417: { detail: 'the Expect header must be 100-continue or absent', path: fee },
  422: {
    detail: 'this Idempotency-Key was sent with another request before; take a new one',
    path: '/ingest/v1/fiat-accounts',
  },
  429: {
    detail: 'too many requests; wait for the seconds that Retry-After names',
    path: accounts,
  },
  431: {
    detail: `the request line and headers must have at most ${limits.headerBytesMax} bytes and ${limits.headersMax} headers`,
    path: '',
  },
  500: {
    detail: 'something broke on our side; name the request_id when you report it',
    path: accounts,
  },
  501: { detail: 'the only Transfer-Encoding of a body is chunked', path: fee },
  503: { detail: 'the store is not available, try again shortly', path: accounts },
}
