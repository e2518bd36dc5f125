import type { Asked } from '../wrong-server.ts'
import {
  eachItem,
  isAccount,
  isAccounts,
  isList,
  isSingle,
  type Json,
  replaced,
  type WrongServerCase,
} from './mutations.ts'

const isQuotes = (asked: Asked): boolean => isList(asked, 'issuer-quotes')
const isStatements = (asked: Asked): boolean => isList(asked, '/statements')
const isAddresses = (asked: Asked): boolean => isList(asked, 'deposit-addresses')
const isInstructions = (asked: Asked): boolean => isList(asked, 'fiat-deposit-instructions')

const with_ = (change: (item: Json) => void, isMeant: (asked: Asked) => boolean) =>
  eachItem((item) => {
    change(item)
    return item
  }, isMeant)

/** The values of records. */
export const ofRecords: readonly WrongServerCase[] = [
  {
    fault: 'answers an amount as a number',
    breaks: ['values.amounts'],
    wrong: replaced(/"principal":"[^"]*"/, '"principal":1.5'),
  },
  {
    fault: 'answers a negative principal',
    breaks: ['values.extra-amounts'],
    wrong: replaced(/(?<="principal":")/g, '-', isQuotes),
  },
  {
    fault: 'answers a type of routing number that Bursar does not have',
    breaks: ['values.extra-enums'],
    only: ['values'],
    wrong: replaced(/"routing_number_type":"ABA"/g, '"routing_number_type":"IBAN"', isInstructions),
  },
  {
    fault: 'answers an amount with an exponent',
    breaks: ['values.amounts'],
    wrong: replaced(/(?<="total_amount_owed":")[^"]*/, '1e3'),
  },
  {
    fault: 'answers null for an optional member',
    breaks: ['values.members'],
    wrong: replaced(/"ref_id":"[^"]*"/g, '"ref_id":null', isQuotes),
  },
  {
    fault: 'answers an account without its networks',
    breaks: ['values.members'],
    only: ['values'],
    wrong: with_((item) => delete item.fiat_network_instructions, isAccounts),
  },
  {
    fault: 'answers records without an id',
    breaks: ['values.members', 'past.versions'],
    wrong: with_((item) => delete item.id, isAccounts),
  },
  {
    fault: 'answers a quote without its profile',
    breaks: ['values.extra-members'],
    wrong: with_((item) => delete item.profile_id, isQuotes),
    only: ['values'],
  },
  {
    fault: 'answers accounts in a list without their status',
    breaks: ['values.extra-members', 'masking.wire'],
    wrong: with_((item) => delete item.status, isAccounts),
  },
  {
    fault: 'answers an account alone without its status',
    breaks: ['values.alone', 'reads.account'],
    wrong: replaced(/"status":"[A-Z]+",?/, '', isAccount),
  },
  ...[
    { member: 'status', value: '"OTHER"' },
    { member: 'metadata', value: '{"count":5}' },
  ].map(({ member, value }) => ({
    fault: `answers an account alone with a wrong ${member} in wire`,
    breaks: ['values.alone'],
    wrong: replaced(/(?<="wire":\{)/, `"${member}":${value},`, isAccount),
  })),
  {
    fault: 'answers a number for text',
    breaks: ['values.members'],
    wrong: replaced(/"bank_name":"[^"]*"/, '"bank_name":7', isInstructions),
    only: ['values'],
  },
  {
    fault: 'answers timestamps with an offset',
    breaks: ['values.extra-timestamps'],
    wrong: replaced(/(?<="created_at":"[^"]*)Z"/g, '+00:00"', isQuotes),
  },
  {
    fault: 'answers timestamps with nine digits',
    breaks: ['values.extra-timestamps'],
    wrong: replaced(/(?<="period_end":"[^".]*)Z"/g, '.000000000Z"', isStatements),
  },
  {
    fault: 'answers an empty text for a date that is not reached',
    breaks: ['values.timestamps'],
    wrong: with_((item) => {
      item.paid_at ??= ''
    }, isStatements),
  },
  {
    fault: 'answers timestamps as numbers',
    breaks: ['values.timestamps'],
    wrong: with_((item) => {
      item.period_end = 1_793_448_000
    }, isStatements),
  },
  {
    fault: 'answers a status that the contract does not show',
    breaks: ['values.enums'],
    wrong: replaced(/"status":"FAILED"/g, '"status":"BROKEN"', isQuotes),
    only: ['values'],
  },
  {
    fault: 'answers a network that the contract does not show',
    breaks: ['values.enums'],
    wrong: with_((item) => item.compatible_crypto_networks.push('OTHER'), isAddresses),
  },
  {
    fault: 'answers ids in upper case',
    breaks: ['values.extra-identifiers'],
    only: ['values'],
    wrong: with_((item) => {
      item.id = item.id.toUpperCase()
    }, isStatements),
  },
  {
    fault: 'answers numbers for ids',
    breaks: ['values.identifiers'],
    only: ['values'],
    wrong: with_((item) => {
      item.id = '12345'
    }, isStatements),
  },
  {
    fault: 'answers memos of other characters',
    breaks: ['values.extra-identifiers'],
    only: ['values'],
    wrong: replaced(/(?<="memo_id":")[^"]*/g, 'memo-1', isInstructions),
  },
  {
    fault: 'answers metadata that is no text',
    breaks: ['values.extra-metadata'],
    wrong: with_((item) => {
      if (item.metadata !== undefined) item.metadata.count = 5
    }, isAddresses),
  },
  {
    fault: 'answers seven pairs of metadata of an account',
    breaks: ['values.metadata'],
    only: ['values'],
    wrong: with_((item) => {
      item.metadata = { a: '', b: '', c: '', d: '', e: '', f: '', g: '' }
    }, isAccounts),
  },
  {
    fault: 'leaves the own network out of the compatible ones',
    breaks: ['values.networks'],
    wrong: with_((item) => {
      item.compatible_crypto_networks = item.compatible_crypto_networks.filter(
        (network: string) => network !== item.crypto_network,
      )
    }, isAddresses),
  },
  {
    fault: 'answers an account otherwise than its list',
    breaks: ['reads.account'],
    wrong: replaced(/(?<="created_at":"20)\d\d/, '19', isAccount),
  },
  {
    fault: 'answers deposit instructions otherwise than their list',
    breaks: ['reads.deposit-instructions'],
    wrong: replaced(/(?<="memo_id":").{4}/, 'AAAA', isSingle),
  },
]
