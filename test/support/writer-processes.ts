import { readFileSync } from 'node:fs'

/** The processes in which a server stores streams, by their parent. */
export const writersOf = (pid: number = process.pid): readonly number[] =>
  childrenOf(pid).filter((child) => commandOf(child).includes('stream-writer'))

/** The processes that a process has started. */
export const childrenOf = (pid: number): readonly number[] =>
  textOf(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)

const commandOf = (pid: number): string => textOf(`/proc/${pid}/cmdline`)

/** The nice value: how far the process yields to others. */
export const priorityOf = (pid: number): number =>
  Number(
    textOf(`/proc/${pid}/stat`)
      .replace(/^.*\) /, '')
      .split(' ')[16],
  )

export const isRunning = (pid: number): boolean => commandOf(pid) !== ''

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}
