/**
 * Opens what a check needs of the records, passes it to the work, and closes it again. Undefined
 * for a process that does not see every customer.
 */
export type UsingRecords<Parts> = <T>(work: (parts: Parts | undefined) => Promise<T>) => Promise<T>
