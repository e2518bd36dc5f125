import type { Attention } from '../../api/read-attention.ts'
import { groupedCount } from '../../values/amounts.ts'
import { counted } from '../attention.tsx'

export type Badge = { readonly text: string; readonly title: string; readonly tone: 'bad' | 'wait' }

/** What waits on a screen, in a figure and in words. Undefined where nothing does. */
export function badgeOf(screen: string, attention: Attention | undefined): Badge | undefined {
  if (attention === undefined) return undefined
  if (screen === 'statements') {
    const counts = attention.shortfalls.map(({ statements }) => statements)
    const isMore = attention.shortfalls.some(({ more }) => more)
    return badge(Math.max(0, ...counts), isMore, 'bad', 'paid too little, of the asset with most')
  }
  if (screen === 'issuer-quote-executions') {
    const { count, more } = attention.failed_quotes
    return badge(count, more, 'bad', 'failed since yesterday')
  }
  if (screen === 'fiat-accounts') {
    const { count, more } = attention.pending_accounts
    return badge(count, more, 'wait', 'pending')
  }
  return undefined
}

const badge = (
  count: number,
  more: boolean,
  tone: Badge['tone'],
  words: string,
): Badge | undefined =>
  count === 0
    ? undefined
    : {
        text: `${groupedCount(count)}${more ? '+' : ''}`,
        title: `${counted(count, 'record')} ${words}`,
        tone,
      }
