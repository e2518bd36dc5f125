/** Why a number cannot be that of a bank, by its type. Undefined for one that can. */
export function routingNumberFault(type: unknown, number: string): string | undefined {
  if (type === 'ABA') return abaFault(number)
  if (type === 'SWIFT') return bicFault(number)
  return undefined
}

/**
 * The American Bankers Association gives out numbers that begin with 00 (the government of the
 * United States), 01 to 12 and 21 to 32 (banks, by district of the Federal Reserve), 61 to 72
 * (electronic transactions) and 80 (traveller's cheques).
 */
const abaBegin = /^(?:0\d|1[0-2]|2[1-9]|3[0-2]|6[1-9]|7[0-2]|80)/

function abaFault(text: string): string | undefined {
  if (!/^\d{9}$/.test(text) || !hasAbaChecksum(text)) {
    return 'must be nine digits with a valid ABA checksum'
  }
  if (abaBegin.test(text) && /[1-9]/.test(text)) return undefined
  return 'is an ABA number that no bank has; its first two digits are 00 to 12, 21 to 32, 61 to 72 or 80'
}

/** 3(d1+d4+d7) + 7(d2+d5+d8) + (d3+d6+d9) is a multiple of ten. */
function hasAbaChecksum(digits: string): boolean {
  const weights = [3, 7, 1]
  const sum = [...digits].reduce(
    (total, digit, at) => total + Number(digit) * (weights[at % 3] ?? 0),
    0,
  )
  return sum % 10 === 0
}

/** ISO 9362: four characters of the party, its country, two of the place, and a branch of three. */
const bic = /^[A-Z0-9]{4}([A-Z]{2})[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/

function bicFault(text: string): string | undefined {
  const [, country] = bic.exec(text) ?? []
  if (country === undefined) {
    return 'must be a BIC as SWIFT has it: 8 or 11 capital letters and digits, such as BANKDE0FXXX'
  }
  if (countries.has(country)) return undefined
  return `is no BIC: ${country}, its fifth and sixth characters, is no country of ISO 3166`
}

/** ISO 3166-1 alpha-2, and XK for Kosovo, as SWIFT uses it. */
const countries: ReadonlySet<string> = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS
BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG
EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR
HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR
LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG
NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE
SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA
UG UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW`.split(/\s/),
)
