/**
 * ISO 3166-1: the alpha-3 and the alpha-2 code of each country, and its English name as browsers
 * have it. To ask the browser takes a slow phone a quarter of a second, for its tables.
 */
const countries =
  'AFGAF Afghanistan|ALAAX Åland Islands|ALBAL Albania|DZADZ Algeria|ASMAS American Samoa|' +
  'ANDAD Andorra|AGOAO Angola|AIAAI Anguilla|ATAAQ Antarctica|ATGAG Antigua & Barbuda|' +
  'ARGAR Argentina|ARMAM Armenia|ABWAW Aruba|AUSAU Australia|AUTAT Austria|AZEAZ Azerbaijan|' +
  'BHSBS Bahamas|BHRBH Bahrain|BGDBD Bangladesh|BRBBB Barbados|BLRBY Belarus|BELBE Belgium|' +
  'BLZBZ Belize|BENBJ Benin|BMUBM Bermuda|BTNBT Bhutan|BOLBO Bolivia|BIHBA Bosnia & Herzegovina|' +
  'BWABW Botswana|BVTBV Bouvet Island|BRABR Brazil|IOTIO British Indian Ocean Territory|' +
  'VGBVG British Virgin Islands|BRNBN Brunei|BGRBG Bulgaria|BFABF Burkina Faso|BDIBI Burundi|' +
  'KHMKH Cambodia|CMRCM Cameroon|CANCA Canada|CPVCV Cape Verde|BESBQ Caribbean Netherlands|' +
  'CYMKY Cayman Islands|CAFCF Central African Republic|TCDTD Chad|CHLCL Chile|CHNCN China|' +
  'CXRCX Christmas Island|CCKCC Cocos (Keeling) Islands|COLCO Colombia|COMKM Comoros|' +
  'COGCG Congo - Brazzaville|CODCD Congo - Kinshasa|COKCK Cook Islands|CRICR Costa Rica|' +
  'CIVCI Côte d’Ivoire|HRVHR Croatia|CUBCU Cuba|CUWCW Curaçao|CYPCY Cyprus|CZECZ Czechia|' +
  'DNKDK Denmark|DJIDJ Djibouti|DMADM Dominica|DOMDO Dominican Republic|ECUEC Ecuador|' +
  'EGYEG Egypt|SLVSV El Salvador|GNQGQ Equatorial Guinea|ERIER Eritrea|ESTEE Estonia|' +
  'SWZSZ Eswatini|ETHET Ethiopia|FLKFK Falkland Islands|FROFO Faroe Islands|FJIFJ Fiji|' +
  'FINFI Finland|FRAFR France|GUFGF French Guiana|PYFPF French Polynesia|' +
  'ATFTF French Southern Territories|GABGA Gabon|GMBGM Gambia|GEOGE Georgia|DEUDE Germany|' +
  'GHAGH Ghana|GIBGI Gibraltar|GRCGR Greece|GRLGL Greenland|GRDGD Grenada|GLPGP Guadeloupe|' +
  'GUMGU Guam|GTMGT Guatemala|GGYGG Guernsey|GINGN Guinea|GNBGW Guinea-Bissau|GUYGY Guyana|' +
  'HTIHT Haiti|HMDHM Heard & McDonald Islands|HNDHN Honduras|HKGHK Hong Kong SAR China|' +
  'HUNHU Hungary|ISLIS Iceland|INDIN India|IDNID Indonesia|IRNIR Iran|IRQIQ Iraq|IRLIE Ireland|' +
  'IMNIM Isle of Man|ISRIL Israel|ITAIT Italy|JAMJM Jamaica|JPNJP Japan|JEYJE Jersey|' +
  'JORJO Jordan|KAZKZ Kazakhstan|KENKE Kenya|KIRKI Kiribati|KWTKW Kuwait|KGZKG Kyrgyzstan|' +
  'LAOLA Laos|LVALV Latvia|LBNLB Lebanon|LSOLS Lesotho|LBRLR Liberia|LBYLY Libya|' +
  'LIELI Liechtenstein|LTULT Lithuania|LUXLU Luxembourg|MACMO Macao SAR China|MDGMG Madagascar|' +
  'MWIMW Malawi|MYSMY Malaysia|MDVMV Maldives|MLIML Mali|MLTMT Malta|MHLMH Marshall Islands|' +
  'MTQMQ Martinique|MRTMR Mauritania|MUSMU Mauritius|MYTYT Mayotte|MEXMX Mexico|' +
  'FSMFM Micronesia|MDAMD Moldova|MCOMC Monaco|MNGMN Mongolia|MNEME Montenegro|MSRMS Montserrat|' +
  'MARMA Morocco|MOZMZ Mozambique|MMRMM Myanmar (Burma)|NAMNA Namibia|NRUNR Nauru|NPLNP Nepal|' +
  'NLDNL Netherlands|NCLNC New Caledonia|NZLNZ New Zealand|NICNI Nicaragua|NERNE Niger|' +
  'NGANG Nigeria|NIUNU Niue|NFKNF Norfolk Island|PRKKP North Korea|MKDMK North Macedonia|' +
  'MNPMP Northern Mariana Islands|NORNO Norway|OMNOM Oman|PAKPK Pakistan|PLWPW Palau|' +
  'PSEPS Palestinian Territories|PANPA Panama|PNGPG Papua New Guinea|PRYPY Paraguay|PERPE Peru|' +
  'PHLPH Philippines|PCNPN Pitcairn Islands|POLPL Poland|PRTPT Portugal|PRIPR Puerto Rico|' +
  'QATQA Qatar|REURE Réunion|ROURO Romania|RUSRU Russia|RWARW Rwanda|WSMWS Samoa|' +
  'SMRSM San Marino|STPST São Tomé & Príncipe|SAUSA Saudi Arabia|SENSN Senegal|SRBRS Serbia|' +
  'SYCSC Seychelles|SLESL Sierra Leone|SGPSG Singapore|SXMSX Sint Maarten|SVKSK Slovakia|' +
  'SVNSI Slovenia|SLBSB Solomon Islands|SOMSO Somalia|ZAFZA South Africa|' +
  'SGSGS South Georgia & South Sandwich Islands|KORKR South Korea|SSDSS South Sudan|ESPES Spain|' +
  'LKALK Sri Lanka|BLMBL St. Barthélemy|SHNSH St. Helena|KNAKN St. Kitts & Nevis|' +
  'LCALC St. Lucia|MAFMF St. Martin|SPMPM St. Pierre & Miquelon|VCTVC St. Vincent & Grenadines|' +
  'SDNSD Sudan|SURSR Suriname|SJMSJ Svalbard & Jan Mayen|SWESE Sweden|CHECH Switzerland|' +
  'SYRSY Syria|TWNTW Taiwan|TJKTJ Tajikistan|TZATZ Tanzania|THATH Thailand|TLSTL Timor-Leste|' +
  'TGOTG Togo|TKLTK Tokelau|TONTO Tonga|TTOTT Trinidad & Tobago|TUNTN Tunisia|TURTR Türkiye|' +
  'TKMTM Turkmenistan|TCATC Turks & Caicos Islands|TUVTV Tuvalu|UMIUM U.S. Outlying Islands|' +
  'VIRVI U.S. Virgin Islands|UGAUG Uganda|UKRUA Ukraine|AREAE United Arab Emirates|' +
  'GBRGB United Kingdom|USAUS United States|URYUY Uruguay|UZBUZ Uzbekistan|VUTVU Vanuatu|' +
  'VATVA Vatican City|VENVE Venezuela|VNMVN Vietnam|WLFWF Wallis & Futuna|ESHEH Western Sahara|' +
  'YEMYE Yemen|ZMBZM Zambia|ZWEZW Zimbabwe'

type Country = { readonly code: string; readonly name: string }

const byCode: ReadonlyMap<string, Country> = new Map(
  countries.split('|').flatMap((text) => {
    const country = { code: text.slice(3, 5), name: text.slice(6) }
    return [
      [text.slice(0, 3), country],
      [country.code, country],
    ] as const
  }),
)

const countryOf = (text: string): Country | undefined => byCode.get(text.toUpperCase())

/** `US` for `USA` and for `us`; undefined for what is no code. */
export const countryCode = (country: string): string | undefined => countryOf(country)?.code

/** `United States` for `USA`; a text that is no code stays as it is. */
export const countryName = (country: string): string => countryOf(country)?.name ?? country
