/** What a process has logged besides the heads of its audit log, which no level switches off. */
export const withoutAuditHeads = (text: string): string =>
  text.replace(/^.*"msg":"audit head"\}\n/gm, '')
