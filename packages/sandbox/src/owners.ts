import type { RecordInput } from '@bursar/contract'
import { cycle } from './seeded.ts'

/** Where an owner lives, with the form of a company there. */
type Place = {
  readonly street: (number: number) => string
  readonly rest: RecordInput
  readonly companyOf: (name: string) => string
}

const place = (
  country: string,
  street: (number: number) => string,
  rest: RecordInput,
  form: string,
): Place => ({ street, rest: { country, ...rest }, companyOf: (name) => `${name} ${form}` })

const before = (street: string) => (number: number) => `${number} ${street}`
const after = (street: string) => (number: number) => `${street} ${number}`

const [providence, columbus, santaFe] = [
  { address2: 'Apt 7B', city: 'Providence', province: 'RI', zip_code: '02906' },
  { address2: 'Suite 310', city: 'Columbus', province: 'OH', zip_code: '43215' },
  { city: 'Santa Fe', province: 'NM', zip_code: '87501' },
] as const

/** Addresses are plain ASCII, because strict clients refuse other letters there. */
const places: readonly [Place, ...Place[]] = [
  place('USA', before('Cinderwood Avenue'), providence, 'LLC'),
  place('DEU', after('Speicherstieg'), { city: 'Hamburg', zip_code: '20457' }, 'GmbH'),
  place('USA', before('Brickyard Road'), columbus, 'Inc.'),
  place('GBR', before('Fennel Row'), { city: 'Leeds', zip_code: 'LS1 4HR' }, 'Ltd'),
  place('SWE', after('Storgatan'), { city: 'Lund', zip_code: '222 23' }, 'AB'),
  place('USA', before('Juniper Court'), santaFe, 'Inc.'),
  {
    street: (number) => `4-11-${number} Shiohama`,
    rest: { country: 'JPN', city: 'Koto-ku', province: 'Tokyo', zip_code: '135-0043' },
    companyOf: () => '朝凪商事株式会社',
  },
  place('CHE', after('Seilerweg'), { city: 'Winterthur', zip_code: '8400' }, 'AG'),
  place(
    'SGP',
    before('Anchorage Lane'),
    { address2: '#09-02', city: 'Singapore', zip_code: '118490' },
    'Pte. Ltd.',
  ),
]

const firstNames = ['Marguerite', 'Ivo', 'Zoë', 'Bronwen', 'Dario', 'Linnea', 'Tobias'] as const
const lastNames = ['Oakhollow', 'Castellane', 'O’Tarn', 'Achterberg', 'Vell-Hale'] as const
const stems = ['Larkmoor', 'Hollisgate', 'Ostmarken', 'Quenby', 'Temasia'] as const
const trades = ['Freight', 'Supply', 'Logistik', 'Holdings', 'Marine', 'Foods', 'Media'] as const

/** An invented owner, by the number of an identity: a person, or a company for odd numbers. */
export function owner(identity: number): RecordInput {
  if (identity % 2 === 1) {
    const name = `${cycle(stems, (identity - 1) / 2)} ${cycle(trades, (identity - 1) / 2)}`
    return { institution_details: { name: cycle(places, identity).companyOf(name) } }
  }
  const [first_name, last_name] = [cycle(firstNames, identity / 2), cycle(lastNames, identity / 2)]
  return { person_details: { first_name, last_name } }
}

export function ownerAddress(identity: number): RecordInput {
  const { street, rest } = cycle(places, identity)
  const { country, ...others } = rest
  return { country, address1: street(1 + ((identity * 17) % 89)), ...others }
}
