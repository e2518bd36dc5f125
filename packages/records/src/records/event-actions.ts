/**
 * What a version did to a customer's record, as the column `event` has it. A version that a list
 * shows created the record, or updated the one before it. Any other deleted or withdrew it. A fee
 * has one event: a withdrawal has consumed it.
 */
export const eventNumbers = { created: 0, updated: 1, deleted: 2, consumed: 3 } as const

export type EventAction = keyof typeof eventNumbers

export const eventActions = Object.keys(eventNumbers) as readonly EventAction[]

/** The number for a staged row, as an expression. */
export const eventOf = (staged: string): string => `case
           when ${staged}.deleted_at is not null then ${eventNumbers.deleted}
           when ${staged}.was_listed = 1 then ${eventNumbers.updated}
           else ${eventNumbers.created} end`
