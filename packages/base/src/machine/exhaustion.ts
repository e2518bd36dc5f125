import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

const advice =
  'raise its limit (ulimit -n, LimitNOFILE= of systemd, --ulimit nofile of a container)'

/** What a process can say that may open no more files or sockets. */
export const outOfDescriptors = `this process may open no more files or connections; ${advice}`

/** Whether the limit of the process or of the machine on open files refused a call. */
export const isOutOfDescriptors = (error: unknown): boolean => {
  const { code } = (error ?? {}) as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE'
}

/** Whether the process may open this many files more. */
export function hasFreeDescriptors(count: number): boolean {
  const opened: number[] = []
  try {
    while (opened.length < count) opened.push(openSync(devNull, 'r'))
    return true
  } catch (error) {
    return !isOutOfDescriptors(error)
  } finally {
    for (const descriptor of opened) closeSync(descriptor)
  }
}
