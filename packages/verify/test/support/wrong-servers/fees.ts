import type { Wrong } from '../wrong-server.ts'
import { drops, isFee, type Json, refuses, replaced, type WrongServerCase } from './mutations.ts'

/** Changes the request before the correct server gets it. */
const asksOtherwise = (change: (body: Json) => Json): Wrong => ({
  request: (asked) => {
    if (!isFee(asked)) return {}
    try {
      return { body: JSON.stringify(change(JSON.parse(asked.body))) }
    } catch {
      return {}
    }
  },
})

/** Guaranteed fees. */
export const ofFees: readonly WrongServerCase[] = [
  {
    fault: 'answers a total that is not amount plus fee',
    breaks: ['fees.sum'],
    wrong: replaced(/(?<="total":")(?=103)/, '1', isFee),
  },
  {
    fault: 'quotes for USDC where no asset is named',
    breaks: ['fees.required'],
    wrong: asksOtherwise((body) => ({ asset: 'USDC', ...body })),
  },
  {
    fault: 'takes an array for a withdrawal',
    breaks: ['fees.body'],
    wrong: asksOtherwise((body) =>
      Array.isArray(body)
        ? {
            asset: 'USDC',
            crypto_network: 'ETHEREUM',
            destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
            amount: '100.50',
          }
        : body,
    ),
  },
  {
    fault: 'answers one fee id for all',
    breaks: ['fees.unique'],
    wrong: replaced(/(?<="id":")[^"]*/, '7f5b1c8e-0000-4000-8000-000000000000', isFee),
  },
  {
    fault: 'quotes for an address with a wrong checksum',
    breaks: ['fees.checksum'],
    wrong: asksOtherwise((body) => {
      const isWrong = /^(0xF0aa|bc1.*5$)/.test(body.destination_address ?? '')
      return isWrong
        ? {
            ...body,
            destination_address: '0xF0Aa84466e353E5390be37FE2934301c07c19a55',
            asset: 'USDC',
            crypto_network: 'ETHEREUM',
          }
        : body
    }),
  },
  {
    fault: 'answers a fee as a number',
    breaks: ['fees.answer', 'fees.sum'],
    wrong: replaced(/"fee":"([^"]*)"/, '"fee":$1', isFee),
  },
  {
    fault: 'answers a fee that has expired',
    breaks: ['fees.answer'],
    wrong: replaced(/(?<="expires_at":")\d{4}/, '2001', isFee),
  },
  {
    fault: 'rewrites the caller’s figure',
    breaks: ['fees.sum'],
    wrong: replaced(/"100\.50"/, '"100.5"', isFee),
  },
  {
    fault: 'takes amount and total together',
    breaks: ['fees.one-figure'],
    wrong: asksOtherwise(({ total, ...body }) =>
      body.amount === undefined || total === undefined ? { ...body, total } : body,
    ),
  },
  {
    fault: 'takes figures with an exponent',
    breaks: ['fees.figures'],
    wrong: asksOtherwise((body) => (body.amount === '1e3' ? { ...body, amount: '1000' } : body)),
  },
  {
    fault: 'takes figures that are numbers',
    breaks: ['fees.figures'],
    wrong: asksOtherwise((body) =>
      typeof body.amount === 'number' ? { ...body, amount: String(body.amount) } : body,
    ),
  },
  {
    fault: 'quotes for a network that does not exist',
    breaks: ['fees.networks'],
    wrong: asksOtherwise((body) =>
      body.crypto_network === 'NO_SUCH_NETWORK' ? { ...body, crypto_network: 'ETHEREUM' } : body,
    ),
  },
  {
    fault: 'rounds more decimals than the asset has',
    breaks: ['fees.decimals'],
    wrong: {
      ...asksOtherwise((body) =>
        /\.\d{10,}$/.test(body.amount ?? '') ? { ...body, amount: '100.5' } : body,
      ),
      ...replaced(/"100\.5"/, '"100.5000000000000000001"', isFee),
    },
  },
  {
    fault: 'refuses zeros after the last decimal',
    breaks: ['fees.decimals'],
    wrong: refuses(400, (_, asked) => isFee(asked) && /"100\.50{10,}"/.test(asked.body)),
  },
  {
    fault: 'takes null for a figure',
    breaks: ['fees.null'],
    wrong: refuses(400, (_, asked) => isFee(asked) && /"total":null/.test(asked.body)),
  },
  {
    fault: 'lets caches store fees',
    breaks: ['fees.caching'],
    wrong: drops('cache-control', isFee),
  },
  {
    fault: 'quotes fees without a token',
    breaks: ['authorization.fee-required'],
    wrong: ({ ownToken }) => ({
      answer: ({ status }, asked, again) =>
        status === 401 && isFee(asked) && !asked.headers.has('authorization')
          ? again({ ...asked, headers: new Headers({ authorization: `Bearer ${ownToken}` }) })
          : {},
    }),
  },
]
