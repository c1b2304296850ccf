/** The origin of the checkpoints of an installation (C2SP `tlog-checkpoint`). */
export const originOf = (installation: string): string => `drs-audit/${installation}`;

/** The id of the installation whose log a checkpoint is of; `undefined` if the text is no checkpoint. */
export const installationOfNote = (note: string): string | undefined =>
  /^drs-audit\/([\da-f-]{36})[/\n]/.exec(note)?.[1];
