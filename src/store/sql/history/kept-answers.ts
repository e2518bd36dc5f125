import { limits } from '../../../platform/limits.ts'

/** Adds an answer unless its key has one. The parameters are numbered in the order of columns. */
export const keepAnswer = (table: string, parameter: (number: number) => string): string =>
  `insert into ${table} (client_id, key, fingerprint, answer, kept_at)
   values (${[1, 2, 3, 4, 5].map(parameter).join(', ')}) on conflict do nothing`

export const findAnswer = (table: string, parameter: (number: number) => string): string =>
  `select fingerprint, answer from ${table}
   where client_id = ${parameter(1)} and key = ${parameter(2)} and kept_at > ${parameter(3)}`

/** Answers are forgotten when another one is kept, a few at a time. */
export const forgetAnswers = (table: string, parameter: (number: number) => string): string =>
  `delete from ${table} where (client_id, key) in (
     select client_id, key from ${table} where kept_at <= ${parameter(1)}
     order by kept_at limit ${limits.answersForgottenMax})`

/** Answers from before are not known any more. */
export const forgottenBefore = (now: bigint): bigint =>
  now - BigInt(limits.answerKeptHours) * 3_600_000_000n

/** An answer whose time has passed makes room for another one of its key. */
export const forgetAnswer = (table: string, parameter: (number: number) => string): string =>
  `delete from ${table}
   where client_id = ${parameter(1)} and key = ${parameter(2)} and kept_at <= ${parameter(3)}`
