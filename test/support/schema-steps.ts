/** The names of all steps of the schema, in the order of the alphabet. */
export const stepNames = (engine: 'sqlite' | 'postgres'): readonly string[] => [
  ...(engine === 'postgres' ? ['audit-append'] : []),
  'client-marks',
  'credentials',
  'events-by-type',
  'held',
  'import-locks',
  'records',
  'salts',
]
