import type {
  Answer,
  Caller,
  ListOperation,
  Operation,
  Request,
  WorkAnswer,
  WorkInput,
} from '@bursar/contract'
import type { PageRows } from '@bursar/records'
import type { Place } from './cursor.ts'
import type { ListInput } from './validate.ts'

/** An operation with what answers it, prepared when the service starts. */
export type Served<C extends Caller> = Reading<C> & { readonly operation: Operation }

/** What the pipeline does for an operation between validation and the answer. */
export type Reading<C extends Caller> = {
  readonly read: (input: ReadInput<C>) => Promise<Found>
  /** The list whose parameters the operation takes. */
  readonly list?: ListOperation
  /** An answer that was kept and is still true. */
  readonly recall?: (caller: C, request: Request) => Promise<Answer | undefined>
}

export type ReadInput<C extends Caller> = WorkInput<C> & {
  readonly list: ListInput | undefined
  readonly place: Place | undefined
}

/** The records of a page, and when it was read. */
export type FoundPage = PageRows & Omit<Place, 'position'>

export type Found = WorkAnswer & {
  readonly page?: FoundPage
  /** Keeps the answer for later requests. */
  readonly keep?: ((answer: Answer) => void) | undefined
}
