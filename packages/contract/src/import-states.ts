/** What an import does, each state with what it means. */
export const runningStates = {
  waiting: 'It waits for what `waits_for` names.',
  receiving: 'A stream arrives, and is written to a file.',
  reading: 'The records are read, checked and staged.',
  checking: 'All records were read. They are compared with what is stored.',
  merging: 'The records are being stored, all or none.',
} as const

/** How an import ended, each state with what it means. */
export const endedStates = {
  stored: 'Its records are stored.',
  checked: 'A dry run found no fault, and changed nothing.',
  answered_before: 'The answer to an earlier request with its `Idempotency-Key` was given again.',
  refused: 'It had a fault, and changed nothing.',
  failed: 'It could not be completed; `reason` says why.',
  cancelled: 'Somebody has cancelled it, and it changed nothing.',
  lost: 'Its process has died. What was merged by then is stored.',
} as const

/** What an import waits for, each code with what it means. */
export const waitCodes = {
  slot: 'A place among the streams that the process stores at a time.',
  session: 'A session of the database.',
  store_lock: 'The end of another merge. The embedded store has one writer at a time.',
  customer_lock: 'The end of another write for one of its customers, or for one of its values.',
} as const

export type RunningState = keyof typeof runningStates
export type ImportState = RunningState | keyof typeof endedStates
export type WaitCode = keyof typeof waitCodes

export const importStates = [...Object.keys(runningStates), ...Object.keys(endedStates)]
export const waitNames = Object.keys(waitCodes)

export const isImportState = (name: string): name is ImportState => importStates.includes(name)
export const isWaitCode = (name: string): name is WaitCode => Object.hasOwn(waitCodes, name)
