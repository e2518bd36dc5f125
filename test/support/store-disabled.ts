import type { CredentialStore } from '../../src/store/credentials.ts'

/** Disables a client past the program, which would also refuse its row for the seal. */
export const storeDisabled = (
  { changeClient }: Pick<CredentialStore, 'changeClient'>,
  clientId: string,
  disabledAt: bigint,
  notBefore: bigint,
) => changeClient(clientId, (client) => ({ ...client, disabledAt, notBefore }))
