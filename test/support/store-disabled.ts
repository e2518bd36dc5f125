import type { CredentialStore, SealMark } from '@bursar/records'

/** Disables a client past the program, which would also refuse its row for the seal. */
export const storeDisabled = (
  { changeClient }: Pick<CredentialStore, 'changeClient'>,
  clientId: string,
  disabledAt: bigint,
  notBefore: bigint,
) => changeClient(clientId, (client) => ({ ...client, disabledAt, notBefore }), sealMark)

/** The seal of somebody who has no key. */
export const sealMark: SealMark = () => 'none'
