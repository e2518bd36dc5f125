import {
  hasFreeDescriptors,
  isOutOfDescriptors,
  outOfDescriptors,
} from '../../../platform/machine/exhaustion.ts'
import { StoreUnavailable } from '../../unavailable.ts'

/** SQLite opens the database, its log, the log's index and, for a moment, the folder. */
const DESCRIPTORS = 4

/** Opens files. Throws a StoreUnavailable that says so if the process may open no more of them. */
export function describingExhaustion<T>(open: () => T): T {
  try {
    return open()
  } catch (error) {
    throw exhaustionOf(error) ?? error
  }
}

/** A StoreUnavailable if the process may open no more files. SQLite itself does not tell why. */
export function exhaustionOf(error: unknown): StoreUnavailable | undefined {
  const isExhausted = isUnopened(error) && !hasFreeDescriptors(DESCRIPTORS)
  if (!isOutOfDescriptors(error) && !isExhausted) return undefined
  return new StoreUnavailable(outOfDescriptors, { cause: error })
}

/** SQLITE_CANTOPEN, or an I/O error of opening the index of the log. */
const isUnopened = (error: unknown): boolean => {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown }
  return typeof errcode === 'number' && [10, 14].includes(errcode & 0xff)
}
