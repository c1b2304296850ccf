/** The people whom the actor of an audit entry names. */

/**
 * A pattern for the end of the actor's name if the actor is a token that a person obtained through the admin API. Names
 * have no parentheses.
 */
export const OBTAINED_BY = ", obtained by ([^()]+)\\)$";
const OBTAINER = new RegExp(OBTAINED_BY);

/** SQL for the person of an actor, and for the person who obtained the actor's token. */
export const personSql = (actor: string): string => `split_part(${actor}, ' (', 1)`;
export const obtainerSql = (actor: string): string => `substring(${actor} from '${OBTAINED_BY}')`;

/** Whether the actors have a person in common. */
export const isSamePerson = (actor: string, other: string): boolean =>
  personsOfActor(actor).some((person) => personsOfActor(other).includes(person));

/** The person of the credential, and the person who obtained the admin token, if this is another person. */
export function personsOfActor(actor: string): readonly string[] {
  const person = actor.split(" (", 1)[0] ?? "";
  const obtainer = OBTAINER.exec(actor)?.[1];
  return obtainer === undefined || obtainer === person ? [person] : [person, obtainer];
}
