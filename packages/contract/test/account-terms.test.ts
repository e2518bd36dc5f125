import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { accountTerms } from '../src/resources/account-terms.ts'

/** Names of real banks, each with its language. */
const banks = readFileSync('packages/contract/test/bank-names.txt', 'utf8')
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [language = '', names = ''] = line.split(': ')
    return names.split(' | ').map((name) => ({ language, name }))
  })

const soughtBy = (text: string, member: string) =>
  accountTerms.sought(text).find(({ matched }) => matched === member)?.names ?? []

test('every name of a directory of banks finds itself, as a bank and as an owner', () => {
  const missed = banks.flatMap(({ language, name }) => {
    const routing_details = { bank_name: name }
    const record = {
      fiat_network_instructions: { rtp: { routing_details } },
      fiat_account_owner: { institution_details: { name } },
    }
    const stored = new Set(accountTerms.of(record).map((term) => term.name))
    const cases = [name, name.toLocaleUpperCase(language), name.toLocaleLowerCase(language)]
    return [...cases, name.normalize('NFD')].filter((query) =>
      ['bank_name', 'fiat_account_owner'].some((member) => {
        const sought = soughtBy(query, member)
        return sought.length === 0 || !sought.every((term) => stored.has(term))
      }),
    )
  })
  assert.deepEqual(missed, [])
  assert.ok(banks.length > 400)
})

test('a blank is no character of the end of an account number', () => {
  for (const [number, end] of [
    ['DE89 3704 0044 0532 0130 00', '3000'],
    ['12\u00a03 45', '2345'],
    ['1 2 3 4', undefined],
  ] as const) {
    const stored = accountTerms.of({
      fiat_network_instructions: { scb: { account_number: number } },
    })
    const names = stored.map(({ name }) => name)
    assert.deepEqual(names, end === undefined ? [] : soughtBy(end, 'account_number'), number)
  }
  assert.deepEqual(soughtBy('30 00', 'account_number'), soughtBy('3000', 'account_number'))
})
