import { lastFour, shortAddress } from '../values/ids.ts'
import type { RecordData } from './kind.ts'
import { memberText } from './record-members.ts'

/** The networks by which money reaches an account, in the order in which they are shown. */
export const fiatNetworks = ['wire', 'rtp', 'dbs_act', 'scb', 'cubix', 'cbit'] as const
export type FiatNetwork = (typeof fiatNetworks)[number]

export const pathOf = (network: FiatNetwork): string => `fiat_network_instructions.${network}`

export const networksOf = (record: RecordData): readonly FiatNetwork[] =>
  fiatNetworks.filter((network) => memberText(record, pathOf(network)) !== '')

/** The members of a network that are codes: they identify the account. */
export const numberMembers = ['account_number', 'wallet_address', 'account_id'] as const

export function numberOf(record: RecordData, network: FiatNetwork): string {
  const texts = numberMembers.map((name) => memberText(record, `${pathOf(network)}.${name}`))
  return texts.find((text) => text !== '') ?? ''
}

/** `···8846`, or `0x71b9…e2a0` of a wallet. */
export const shortNumber = (record: RecordData, network: FiatNetwork): string =>
  network === 'cbit' ? shortAddress(numberOf(record, network)) : lastFour(numberOf(record, network))

/** The first network of a record, whose bank and number a list shows. */
export const mainNetwork = (record: RecordData): FiatNetwork | undefined => networksOf(record)[0]

export function mainMember(record: RecordData, member: string): string {
  const network = mainNetwork(record)
  return network === undefined ? '' : memberText(record, `${pathOf(network)}.${member}`)
}

/** `First Sample Bank ···8846`: the bank and the masked number name an account for everybody. */
export function accountTitle(record: RecordData, nameOfNetwork: (name: string) => string): string {
  const network = mainNetwork(record)
  if (network === undefined) return 'Account without a network'
  const bank = mainMember(record, 'routing_details.bank_name') || nameOfNetwork(network)
  return `${bank} ${shortNumber(record, network)}`
}

/** The banks that the title of a record does not name: `RTP Merrow Valley`, `through Tidewell`. */
export function otherBanksOf(
  record: RecordData | undefined,
  nameOfNetwork: (name: string) => string,
): readonly string[] {
  if (record === undefined) return []
  const [main, ...others] = networksOf(record)
  const own = others.map((network) => [
    nameOfNetwork(network),
    memberText(record, `${pathOf(network)}.routing_details.bank_name`),
  ])
  const through = [main, ...others].map((network) => [
    'through',
    memberText(
      record,
      `fiat_network_instructions.${network}.intermediary_routing_details.bank_name`,
    ),
  ])
  const named = [...own, ...through]
    .filter(([, bank]) => bank !== '')
    .map((words) => words.join(' '))
  return [...new Set(named)]
}

/** The owner, where the answer has it: lists of fiat accounts do not. */
export function ownerOf(record: RecordData): string {
  const institution = memberText(record, 'fiat_account_owner.institution_details.name')
  if (institution !== '') return institution
  const names = ['first_name', 'last_name'].map((name) =>
    memberText(record, `fiat_account_owner.person_details.${name}`),
  )
  return names.join(' ').trim()
}
