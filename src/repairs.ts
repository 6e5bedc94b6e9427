/** What can be wrong with a record: why it is refused, what is put right in one that is kept, and what may be left as it is. */

/** Why a record was refused. */
export type Refusal =
  | "not a record"
  | "no id"
  | "bad coordinates"
  | "coordinates look swapped"
  | "text too long"
  | "too deep"
  | "repeated id";

/** What was put right in a record that was kept. */
export type Repair =
  | "name missing"
  | "category unknown"
  | "category contradicted"
  | "region missing"
  | "comment repeated"
  | "entities decoded"
  | "markup removed"
  | "number read from text"
  | "photo missing"
  | "text cleaned";

/** Repairs that can be switched off, and what stays as the source wrote it then. */
export const optionalRepairs = {
  comments: "comments of the record before",
  entities: "HTML entities and markup",
  numbers: "altitudes and capacities that are more than a number",
  photo: "an empty photo",
} as const;

export type OptionalRepair = keyof typeof optionalRepairs;

/** Ends the reading of a record. */
export class Refused extends Error {
  readonly reason: Refusal;
  constructor(reason: Refusal) {
    super(reason);
    this.reason = reason;
  }
}
