import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ConsumeRequest, NewFeeQuote } from '../../../src/store/fee-quotes.ts'

type Command = { readonly issue: NewFeeQuote } | { readonly consume: ConsumeRequest }
export type Acknowledged = { readonly outcome: string; readonly again?: boolean }

export type QuoteChild = {
  /** Resolves with what the process acknowledged, or undefined where it was killed before it could. */
  send(command: Command): Promise<Acknowledged | undefined>
  /** kill -9: nothing is flushed, closed or said. */
  kill(): Promise<void>
}

export function startQuoteChild(where: string): QuoteChild {
  const file = new URL('./quote-process.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [file, where], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, (answer: Acknowledged | undefined) => void>()
  let sent = 0
  // Writing to a process that has just been killed is no fault of this one.
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { number, ...answer } = JSON.parse(line)
    waiting.get(number)?.(answer)
    waiting.delete(number)
  })
  const ended = once(child, 'close').then(() => {
    for (const settle of waiting.values()) settle(undefined)
  })
  return {
    send: (command) =>
      new Promise((resolve) => {
        sent += 1
        waiting.set(sent, resolve)
        const plain = JSON.stringify({ number: sent, ...command }, (_, value) =>
          typeof value === 'bigint' ? `${value}n` : value,
        )
        child.stdin.write(`${plain}\n`)
      }),
    kill: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}
