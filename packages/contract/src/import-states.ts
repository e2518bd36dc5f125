/** What became of an import, each state with what it means. */
export const importMeanings = {
  running: 'Its records are received, read, checked or stored. None of them is seen yet.',
  stored: 'All of its records are stored.',
  stored_in_part: 'Its records are stored but for those that were rejected.',
  refused: 'It had a fault or could not be completed, and stored nothing; `reason` says why.',
  cancelled: 'Somebody has cancelled it, and it stored nothing.',
  lost: 'Its process has ended before it could be stored, and it stored nothing.',
} as const

export type ImportState = keyof typeof importMeanings

export const importStates = Object.keys(importMeanings)

export const isImportState = (name: string): name is ImportState =>
  Object.hasOwn(importMeanings, name)

/** What a merge waits for, as the command says it. */
export const waitMeanings = {
  session: 'a session of the database',
  store_lock: 'the end of another merge; the embedded store has one writer at a time',
  customer_lock: 'the end of another write for one of its customers, or for one of its values',
} as const

export type WaitCode = keyof typeof waitMeanings

export const isWaitCode = (name: string): name is WaitCode => Object.hasOwn(waitMeanings, name)
