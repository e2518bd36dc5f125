import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { ConsumeRequest, NewFeeQuote } from '../../src/fee-quotes.ts'

/** What to do, and the time of an embedded store. */
type Command = { readonly at: bigint } & (
  | { readonly issue: NewFeeQuote }
  | { readonly consume: ConsumeRequest }
)
export type Acknowledged = { readonly outcome: string; readonly again?: boolean }

export type QuoteChild = {
  /** Resolves with the acknowledgement, or undefined if the process was killed before it. */
  send(command: Command): Promise<Acknowledged | undefined>
  /** Sends SIGKILL: the process flushes and closes nothing. */
  kill(): Promise<void>
}

export function startQuoteChild(where: string): QuoteChild {
  const file = new URL('./quote-process.ts', import.meta.url).pathname
  const child = spawn(process.execPath, [file, where], { stdio: ['pipe', 'pipe', 'inherit'] })
  const waiting = new Map<number, (answer: Acknowledged | undefined) => void>()
  let sent = 0
  // A write to a process that was just killed fails; that is expected.
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
