import {
  hasFreeDescriptor,
  isOutOfDescriptors,
  outOfDescriptors,
} from '../../../platform/machine/exhaustion.ts'
import { StoreUnavailable } from '../../unavailable.ts'

/** Opens files. Throws a StoreUnavailable that says so if the process may open no more of them. */
export function describingExhaustion<T>(open: () => T): T {
  try {
    return open()
  } catch (error) {
    if (!isOutOfDescriptors(error) && !(isUnopened(error) && !hasFreeDescriptor())) throw error
    throw new StoreUnavailable(outOfDescriptors, { cause: error })
  }
}

/** SQLITE_CANTOPEN, or an I/O error of opening the index of the log. */
const isUnopened = (error: unknown): boolean => {
  const { errcode } = (error ?? {}) as { readonly errcode?: unknown }
  return typeof errcode === 'number' && [10, 14].includes(errcode & 0xff)
}
